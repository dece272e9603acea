import { expect, it } from 'vitest';
import { createRandom } from '../../faults/random.ts';
import type { Store } from '../../src/store/store.ts';
import { now } from '../domain/examples.ts';
import { engines } from '../support/engines.ts';
import { testsOn } from '../support/fixtures.ts';
import { accountId, insertAccount, insertLicense } from '../support/store-fixture.ts';

/** Letters of ten scripts; accents of Latin and Greek letters stand apart in some names, and full width in others. */
const scripts: Readonly<Record<string, string>> = {
  latin: 'aàâäåæbcçdđeéèêëfghıijklłmnñoóöøœpqrsßşştuúüvwxyýz',
  greek: 'αάβγδεέζηήθιίκλμνξοόπρσςτυύφχψωώ',
  cyrillic: 'абвгґдеёжзиійклмнопрстуўфхцчшщъыьэюя',
  armenian: 'աբգդեզէըթժիլխծկհձղճմյնշոչպջռսվտրցւփքօֆ',
  georgian: 'აბგდევზთიკლმნოპჟრსტუფქღყშჩცძწჭხჯჰ',
  hebrew: 'אבגדהוזחטיכלמנסעפצקרשתךםןףץ',
  arabic: 'ابتثجحخدذرزسشصضطظعغفقكلمنهويةىء',
  devanagari: 'अआइईउकखगघचछजटठडतथदधनपफबभमयरलवशसहािीुे',
  hangul: '가나다라마바사아자차카타파하김이박최정강조윤장임한오서신권황안송',
  han: '王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林東京都大阪市さくらアイウ',
};

const NAMES = 300;

const random = createRandom(51);

const pick = (letters: readonly string[]): string => letters[random.below(letters.length)] ?? '';

const wordOf = (script: string): string => {
  const letters = Array.from(scripts[script] ?? '');
  const word = Array.from({ length: 2 + random.below(8) }, () => pick(letters)).join('');
  return random.below(3) === 0 ? word.charAt(0).toUpperCase() + word.slice(1) : word;
};

const nameAt = (at: number): string => {
  const script = Object.keys(scripts)[at % 10] ?? '';
  const name = Array.from({ length: 1 + random.below(3) }, () => wordOf(script)).join(at % 7 === 0 ? '-' : ' ');
  return at % 4 === 0 ? name.normalize('NFD') : name;
};

const names = Array.from({ length: NAMES }, (_, at) => nameAt(at));

/** What somebody types to find a name: all of it, without its accents, in capitals, its beginning, three characters of it. */
function textsFor(name: string): string[] {
  const characters = Array.from(name.normalize('NFC'));
  const from = random.below(Math.max(1, characters.length - 2));
  const part = characters.slice(from, from + 3).join('');
  return [
    ...[name, name.normalize('NFD').replaceAll(/[\u0300-\u036f]/g, ''), name.toUpperCase()],
    ...[characters.slice(0, 1).join(''), characters.slice(0, 2).join(''), part],
  ];
}

const idOf = (at: number): string => `cus_${String(at).padStart(3, '0')}`;

async function fill(store: Store): Promise<void> {
  await insertAccount(store, { id: accountId, name: 'acme', createdAt: now });
  await store.transaction(async ({ customers }) => {
    for (const [at, name] of names.entries()) {
      await customers.insert({ accountId, id: idOf(at), name, email: null, now });
    }
  });
}

const find = async (store: Store, text: string): Promise<string[]> =>
  (await store.repositories.customers.list(accountId, { text }).part({ limit: NAMES })).map(({ id }) => id);

it.skipIf(engines.length < 2)('finds the same names on both engines, and each by what is typed for it', async () => {
  const [one, other] = await Promise.all(engines.map((engine) => engine.createDatabase()));
  if (one === undefined || other === undefined) throw new Error('there are two engines');
  await using _one = one;
  await using _other = other;
  await Promise.all([one, other].map(({ store }) => fill(store)));
  const missing: string[] = [];
  for (const [at, name] of names.entries()) {
    for (const text of textsFor(name)) {
      const found = await find(one.store, text);
      expect(await find(other.store, text), `${text} for ${name}`).toEqual(found);
      // Three characters with a space or hyphen among them are two words, of one and of another.
      const isPart = Array.from(text).length !== 3 || !/[\s-]/.test(text);
      if (isPart && !found.includes(idOf(at))) missing.push(`${text} for ${name}`);
    }
  }
  expect(missing).toEqual([]);
});

const spellings: readonly [name: string, found: readonly string[], not: readonly string[]][] = [
  ['Müller', ['muller', 'MUELLER', 'müll', 'ｍüller', 'uller'], ['mull er', 'mulle r', 'ul']],
  ['Mueller', ['müller', 'mueller', 'Müll'], ['muller']],
  ['Straße & Søn', ['strasse', 'STRASSE', 'traß', 'son', 'soen', 'strasse son'], ['son strasse']],
  ["O'Brien Société", ['obrien', 'o’brien', 'brien', 'societe', 'ciet'], ['o brien']],
  ['Łódź İstanbul', ['lodz', 'istanbul', 'ISTANBUL', 'łód'], []],
  ['Σίσυφος', ['σισυφοσ', 'ΣΊΣΥΦΟΣ', 'σίσυφος', 'συφ'], []],
  ['ＡＢＣ株式会社', ['abc', '株式', '会社', '式会', '社'], ['会式']],
  ['ガラス', ['ｶﾞﾗｽ', 'ラス'], ['カラス']],
  ['100% Under_score', ['100', '100%', 'score', 'under_score'], ['%', '_', '1_0']],
];

for (const engine of engines) {
  const test = testsOn(engine);
  test(`finds a name in its other spellings, on ${engine.name}`, async ({ store }) => {
    for (const [at, [name]] of spellings.entries()) {
      await store.transaction(({ customers }) => customers.insert({ accountId, id: idOf(at), name, email: null, now }));
    }
    for (const [at, [name, found, not]] of spellings.entries()) {
      for (const text of found) expect(await find(store, text), `${text} for ${name}`).toContain(idOf(at));
      for (const text of not) expect(await find(store, text), `${text} for ${name}`).not.toContain(idOf(at));
    }
  });

  test(`finds a name by what it is now, and a removed one not any more, on ${engine.name}`, async ({ store }) => {
    const before = { id: 'cus_1', name: 'Zoë', email: 'zoe@example.com' };
    await store.transaction(({ customers }) => customers.insert({ accountId, ...before, now }));
    const customer = await store.repositories.customers.find(accountId, 'cus_1');
    if (customer === null) throw new Error('it was added');
    await store.transaction(({ customers }) => customers.patch(accountId, customer, { name: 'Bob', updatedAt: now }));
    expect([await find(store, 'zoe'), await find(store, 'bob')]).toEqual([['cus_1'], ['cus_1']]);
    await store.transaction(({ customers }) =>
      customers.patch(accountId, { ...customer, name: 'Bob' }, { email: null, updatedAt: now }),
    );
    expect([await find(store, 'zoe'), await find(store, 'bob')]).toEqual([[], ['cus_1']]);
    await store.transaction(({ customers }) => customers.remove(accountId, 'cus_1', now));
    expect(await find(store, 'bob')).toEqual([]);
  });

  it(`finds a key by its reference, and by what its metadata says but no flag, on ${engine.name}`, async () => {
    await using database = await engine.createDatabase();
    const { store } = database;
    const license = await insertLicense(store, {
      reference: 'ORDER-1001',
      metadata: { invoice: 'RE-2026/77', seats: 4711, isTrial: true, notes: ['hidden'] },
    });
    const keys = (text: string) =>
      store.repositories.keyLists.page(
        accountId,
        { productIds: null, text: { text, key: text, anyKeyEnd: true, customers: true } },
        { limit: 10 },
      );
    for (const text of ['order-1001', 'der 100', '2026/77', '471']) {
      expect(
        (await keys(text)).map(({ id }) => id),
        text,
      ).toEqual([license.id]);
    }
    for (const text of ['true', 'hidden', 'order-1002']) expect(await keys(text), text).toEqual([]);
  });
}
