import { readFileSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { mutates } from '../../src/contract/endpoint.ts';
import { listEndpoints } from '../../src/contract/index.ts';
import { scopes } from '../../src/contract/scopes.ts';
import { showIp, toIpAddress } from '../../src/domain/ip-address.ts';
import { showKey } from '../../src/domain/license-key.ts';
import { createMemoryCounter } from '../../src/server/http/rate-counters.ts';
import { engines } from '../support/engines.ts';
import { testsOn } from '../support/fixtures.ts';
import { ask, type EndpointName, furnish, validRequests } from '../support/requests.ts';
import { pathWith } from '../support/scenario.ts';
import { type As, createWorld, type World } from '../support/world.ts';

/** A test here makes many requests one after the other, which a busy machine takes long for. */
const MANY_REQUESTS_MS = 120_000;

/** A key of another format; one that has the sections of ours, and a letter that ours never have; a short one. */
const foreignKeys = ['SHOP/2026/QWERTY-ZXCVB7H2K9', 'ABCDU-12345-67890-BCDFG-HJKMN', 'QK-77-4ZXW'] as const;

const ADDRESS = '198.51.100.77';

const SYMBOLS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** What a caller is shown of a secret, and how it asks whether this character is the next one. */
interface Secret {
  readonly name: string;
  readonly next: string;
  readonly guesses: readonly ((symbol: string) => string)[];
}

/** Callers that see keys masked; the second and third may also do everything else. */
const maskedCallers: readonly (readonly [name: string, as: As])[] = [
  ['only license:read', { scopes: ['license:read'] }],
  ['kind read-only', 'read-only'],
  ['all but license:reveal', { scopes: scopes.filter((scope) => scope !== 'license:reveal') }],
];

/** Members of bodies by which something is looked up; others are the caller's own words. */
const lookedUp = ['licenseKey', 'productId', 'customerId', 'reference', 'email'];

/** Every text that a request can carry in its query, as the document lists them: also those of filters. */
const textParameters = listTextParameters();

/** Counts requests as if each came a minute after the last. */
function aMinuteEach() {
  let minutes = 0;
  return createMemoryCounter(() => ++minutes * 60_000_000);
}

describe.each(engines)('a caller that sees keys masked, on $name', { timeout: MANY_REQUESTS_MS }, (engine) => {
  const it = testsOn(engine);

  it.each(maskedCallers)('learns no character more than it is shown from any parameter: %s', async (_, as) => {
    await using world = await createWorld({ engine, lookupsPerMinute: null, publicCounter: aMinuteEach() });
    const { own, secrets } = await furnishSecrets(world, as);
    for (const { name, endpoint } of listEndpoints()) {
      const { query, body } = validRequests[name as EndpointName](own);
      const members = Object.keys(body ?? {}).filter((member) => lookedUp.includes(member));
      const path = `${endpoint.method} ${endpoint.path}`;
      for (const parameter of [...(textParameters.get(path) ?? []), ...members]) {
        const isMember = members.includes(parameter);
        const told = async (value: string) => {
          const guessed = { [parameter]: value };
          const address = pathWith(endpoint, isMember ? query : { ...query, ...guessed });
          const sent = isMember ? Object.assign({}, body, guessed) : body;
          const answer = await world.call(as, endpoint.method, address, sent);
          // What a change answers holds new ids.
          const shown = isMember ? answer.body?.message : answer.text;
          return `${answer.status} ${shown}`.replaceAll(value, 'GUESS');
        };
        for (const secret of secrets) {
          const all = parameter === 'text' ? [...SYMBOLS] : ['2', 'X'];
          for (const guess of secret.guesses) {
            const right = await told(guess(secret.next));
            const wrong = all.filter((symbol) => symbol !== secret.next);
            const answers = await Promise.all(wrong.map((symbol) => told(guess(symbol))));
            for (const answer of answers) expect(answer, `${name} ${parameter}: ${secret.name}`).toBe(right);
          }
        }
      }
    }
  });

  it.each(maskedCallers)('is shown no other key by any operation, nor in what is recorded: %s', async (_, as) => {
    await using world = await createWorld({ engine, lookupsPerMinute: null, publicCounter: aMinuteEach() });
    const { own } = await furnishSecrets(world, as);
    await world.sequence();
    const hidden = ['QWERTY', 'ABCDU-12345'];
    const seen = new Set<string>();
    // Reads first: what changes may take away what they would show.
    const endpoints = listEndpoints().toSorted((a, b) => Number(mutates(a.endpoint)) - Number(mutates(b.endpoint)));
    for (const { name, endpoint } of endpoints) {
      const { text } = await ask(world, as, { name, endpoint }, own);
      for (const secret of hidden) expect(text.includes(secret), `${name} shows ${secret}`).toBe(false);
      if (mutates(endpoint)) continue;
      const whole = (await ask(world, 'admin', { name, endpoint }, own)).text;
      for (const secret of hidden) if (whole.includes(secret)) seen.add(secret);
    }
    expect([...seen].toSorted(), 'keys that an administrator is shown').toEqual(hidden.toSorted());
  });

  it.for(['/key/list', '/find'])(
    'finds a key by all of it and by the section that it is shown, and by no part of that: %s',
    async (path, { world }) => {
      const { own } = await furnishSecrets(world, 'read-only');
      const find = async (as: As, text: string) =>
        (await world.call(as, 'GET', `${path}?${new URLSearchParams({ text })}`)).body.data.length;
      for (const key of [own.licenseKey, ...foreignKeys]) {
        const shown = key === own.licenseKey ? 5 : key.length < 12 ? 2 : 4;
        expect(await find('read-only', key)).toBe(1);
        for (const length of [3, 4, 5, 6, 7]) {
          expect(await find('read-only', key.slice(-length)), `${length} of ${key}`).toBe(length === shown ? 1 : 0);
          expect(await find('admin', key.slice(-length))).toBe(length >= 4 ? 1 : 0);
        }
      }
    },
  );

  it.for(['/key/list', '/find'])(
    'finds by the customer only where it may list customers: %s',
    async (path, { world }) => {
      await furnishSecrets(world, 'read-only');
      const find = async (as: As) => (await world.call(as, 'GET', `${path}?text=quill`)).body.data.length;
      expect(await find('read-only')).toBe(1);
      expect(await find({ scopes: ['license:read', 'customer:read'] })).toBe(1);
      expect(await find({ scopes: ['license:read'] })).toBe(0);
    },
  );
});

async function furnishSecrets(world: World, as: As) {
  const own = await furnish(world);
  const customer = { name: 'Quill', email: 'quill@vault.example' };
  for (const [at, key] of foreignKeys.entries()) {
    const devices = [{ hostId: '7777', ipAddress: ADDRESS }];
    const body = { productId: own.productId, key, devices, ...(at === 0 && { customer }) };
    expect(await world.call('admin', 'POST', '/key/import', body)).toMatchObject({ status: 200 });
  }
  const seesCustomers = typeof as === 'object' && 'scopes' in as ? as.scopes?.includes('customer:read') : true;
  const secrets = [own.licenseKey, ...foreignKeys].map(keySecret);
  secrets.push(addressSecret());
  if (!seesCustomers) secrets.push(...[customer.name, customer.email].map(startSecret));
  return { own, secrets };
}

/** Of a key, its last characters are shown. */
function keySecret(key: string): Secret {
  const mask = String(showKey(key as never, false));
  const end = mask.slice(mask.lastIndexOf('*') + 1).replace(/^-/, '');
  const before = key.slice(0, -end.length).replace(/-$/, '');
  const dash = before.length + end.length < key.length ? '-' : '';
  return {
    name: key,
    next: before.slice(-1),
    guesses: [
      (symbol) => symbol + dash + end,
      (symbol) => symbol + end,
      (symbol) => `%${symbol}${dash}${end}`,
      (symbol) => `${'*'.repeat(before.length - 1)}${symbol}${dash}${end}`,
      (symbol) => `${'0'.repeat(before.length - 1)}${symbol}${dash}${end}`,
    ],
  };
}

/** Of an address, its first two groups are shown. */
function addressSecret(): Secret {
  const shown = String(showIp(toIpAddress(ADDRESS), false)).replace(/\.\*.*$/, '.');
  return {
    name: ADDRESS,
    next: ADDRESS.charAt(shown.length),
    guesses: [(symbol) => shown + symbol, (symbol) => `${shown}${symbol}%`, (symbol) => `${shown}${symbol}0.77`],
  };
}

/** Nothing is shown of it; the first three characters were guessed already. */
const startSecret = (text: string): Secret => ({
  name: text,
  next: text.charAt(3),
  guesses: [(symbol) => text.slice(0, 3) + symbol, (symbol) => `%${text.slice(0, 3)}${symbol}`],
});

function listTextParameters(): ReadonlyMap<string, readonly string[]> {
  const { paths } = JSON.parse(readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8'));
  const found = new Map<string, string[]>();
  for (const [path, methods] of Object.entries<Record<string, { parameters?: readonly Parameter[] }>>(paths)) {
    for (const [method, { parameters = [] }] of Object.entries(methods)) {
      // A filter by metadata is a parameter of its own name.
      const texts = parameters
        .filter((each) => each.in === 'query' && !['integer', 'boolean'].includes(each.schema?.type ?? ''))
        .map((each) => (each.name === 'metadata' ? 'metadata.plan' : each.name));
      found.set(`${method.toUpperCase()} ${path}`, texts);
    }
  }
  return found;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly schema?: { readonly type?: string };
}
