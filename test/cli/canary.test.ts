import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { CommandEntry } from '../../src/cli/command.ts';
import { commandEntries } from '../../src/cli/tree.ts';
import { toOpenApi } from '../../src/contract/openapi/openapi.ts';
import { mintToken } from '../../src/domain/token.ts';
import { canaryCommands, follows, fromExample, isOffline, type Shop } from './canary-commands.ts';
import { lkm, type Ran, type Surroundings, tempFolder } from './fake-io.ts';
import { started } from './started.ts';

const EMAIL = 'canary-4b1d@example.com';
const MASTER = Buffer.alloc(32, 9).toString('base64');
const PASSPHRASE = 'canary passphrase of the restored database';
const STOLEN = mintToken('admin', new Uint8Array(32).fill(3));
const FOLLOW_MS = 300;

/** A folder in which commands run as one user, and all that they printed. */
function workplace() {
  const cwd = tempFolder();
  const write = (name: string, text: string) => writeFileSync(join(cwd, name), text, { mode: 0o600 });
  write('master.key', MASTER);
  const ran: (Ran & { readonly path: string })[] = [];
  const env = { LKM_MASTER_KEY_FILE: 'master.key' };
  const at = async (path: string, words: readonly string[], more: Surroundings = {}): Promise<string> => {
    const now = Date.now();
    const result = await lkm([...path.split(' '), ...words], { cwd, env, now, stdin: STOLEN, ...more });
    ran.push({ ...result, path });
    return result.stdout.trim();
  };
  const read = (name: string) => readFileSync(join(cwd, name)).toString('latin1');
  return { cwd, write, read, at, ran };
}

type Workplace = ReturnType<typeof workplace>;

/** Makes one of everything, and the files that commands read. */
async function furnish({ at, write }: Workplace, url: string): Promise<Shop> {
  const json = async (path: string, words: readonly string[]) => JSON.parse(await at(path, [...words, '--json']));
  const product = await at('products create', ['--name', 'Editor', '-q']);
  const { id: version } = await json('products add-version', [product, '1.0']);
  const customer = await at('customers create', ['--name', 'Zoë', '--email', EMAIL, '-q']);
  const former = await at('customers create', ['--name', 'Zoë', '--email', `former-${EMAIL}`, '-q']);
  const keyOf = (...words: string[]) => at('keys create', ['-P', product, '--customer', customer, ...words]);
  const [key, full, floating, doomed] = [
    await keyOf(),
    await keyOf('--max-activations', '1'),
    await keyOf('--type', 'floating', '--max-sessions', '2'),
    await keyOf(),
  ];
  const names = { key, 'full-key': full, 'floating-key': floating, 'doomed-key': doomed };
  for (const [name, text] of Object.entries(names)) write(`${name}.txt`, text);
  write('wrong-key.txt', `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`);
  await at('keys activate', ['@full-key.txt', '-P', product, '--host-id', 'other']);
  await at('keys sign', ['@key.txt', '-P', product, '--host-id', 'h', '-o', 'a.lic']);
  const licenseToken = JSON.parse(await at('keys sign', ['@key.txt', '-P', product, '--host-id', 'h', '-o', '-']));
  write('broken.lic', JSON.stringify({ ...licenseToken, signedKey: `${key}x` }).slice(0, -9));
  await at('keys checkout', ['@floating-key.txt', '-P', product, '--user', EMAIL, '--json', '-o', 'session.json']);
  write('broken.json', `{"sessionSecret":"${MASTER}"`);
  const [{ id: session = '' } = {}] = await json('sessions list', []);
  await at('tokens create', ['--kind', 'admin', '--name', 'ci']);
  const token = (await json('tokens list', [])).find(({ name }: { name: string }) => name === 'ci').id;
  await at('webhooks create', ['--url', `${url}/ready`]);
  const [{ id: webhook }] = await json('webhooks list', []);
  write('orders.csv', `newCustomer.name,newCustomer.email\nZoë,order-${EMAIL}\nZoë,${EMAIL}\n`);
  write('customers.csv', `name,email\nZoë,row-${EMAIL}\nZoë,${EMAIL}\n`);
  write('import.csv', `productId,key,email\n${product},CANARY-0001-IMPORTED-KEY-0042,imported-${EMAIL}\n`);
  write('changes.csv', `key,maxActivations\n${key},7\nAAAAA-AAAAA-AAAAA-AAAAA-AAAAA,7\n`);
  write('stolen.csv', `key\n${full}\nAAAAA-AAAAA-AAAAA-AAAAA-AAAAA\n`);
  write('stolen.txt', `a log with ${STOLEN} in it\n`);
  write('token.txt', STOLEN);
  write('passphrase.txt', PASSPHRASE);
  write('openapi.json', JSON.stringify(toOpenApi()));
  await at('customers create', ['-f', 'customers.csv']);
  const [{ id: job }] = await json('jobs list', []);
  const { account = '' } = /"account":"(?<account>acc_\w+)"/.exec(await at('audit list', ['--json']))?.groups ?? {};
  return { product, version, customer, former, token, webhook, session, job, email: EMAIL, url, account };
}

/** Everything secret that the run has seen or made, by kind. */
function secretsIn(text: string): Record<string, Set<string>> {
  const all = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, found = '']) => found);
  return {
    token: new Set([STOLEN, ...all(/(lkm_[a-z-]+_[0-9a-z]{59})/g)]),
    'master key': new Set([MASTER, PASSPHRASE]),
    'private key': new Set(['PRIVATE KEY']),
    'secret of a session': new Set(all(/"sessionSecret": ?"([^"]+)"/g)),
    nonce: new Set(all(/"nextNonce": ?"([^"]+)"/g)),
    'secret of a webhook': new Set(all(/(whsec_[\w+/=]{20,})/g)),
    'licence file': new Set(all(/"licenseToken\\*": ?\\*"[\w-]+\.[\w-]+\.([\w-]{40,})/g)),
    key: new Set([...all(/\b([0-9A-Z]{5}(?:-[0-9A-Z]{5}){4})\b/g), 'CANARY-0001']),
    email: new Set([EMAIL]),
  };
}

/** What may stand in a database: it is there to keep it. */
const kept = ['key', 'email', 'licence file', 'nonce'];

it('no command leaves a secret where it does not belong', { timeout: 120_000 }, async () => {
  expect(commandEntries.map(({ path }) => path)).toEqual(expect.arrayContaining(Object.keys(canaryCommands)));
  const place = workplace();
  const { at, read, ran, cwd } = place;
  const env = { LKM_MASTER_KEY_FILE: 'master.key' };
  const argv = ['--db', 'lkm.db', '--metrics', '0', '--rate-limit', 'off', '--allow-private-webhooks', '--json'];
  const server = await started([...argv, '--log-format', 'json', '--debug'], { cwd, env, now: Date.now() });
  const { url, metrics } = JSON.parse(server.printed.stdout);
  const shop = await furnish(place, url);

  const run = async ({ path, load }: CommandEntry) => {
    const stop = follows(path) ? { stop: AbortSignal.timeout(FOLLOW_MS) } : {};
    for (const words of canaryCommands[path]?.(shop) ?? [fromExample(path, await load(), shop)]) {
      const end = words.includes('--') ? [] : ['--debug'];
      await at(path, [...words, ...end], stop);
      if (isOffline(path) || path === 'serve') continue;
      // The same with a token that is refused, and where nobody answers.
      await at(path, [...words, ...end, '--token-file', 'token.txt', '--max-retries', '0'], stop);
      await at(path, [...words, ...end, '--base-url', 'http://127.0.0.1:9', '--max-retries', '0', '--json'], stop);
    }
  };
  for (const entry of commandEntries) if (!isOffline(entry.path)) await run(entry);
  const scraped = await (await fetch(metrics)).text();
  const whileServed = ['lkm.db', 'lkm.db-wal'].map(read).join('');
  await at('db backup', ['served.db', '--db', 'lkm.db']);
  expect(await server.stop()).toBe(0);
  for (const entry of commandEntries) if (isOffline(entry.path)) await run(entry);

  const files = readdirSync(cwd, { recursive: true, encoding: 'utf8' });
  const under = (folder: string) => files.filter((name) => name.startsWith(folder) && /\.\w+$/.test(name));
  const texts = ['a.lic', 'session.json', 'lent.txt', 'exported.csv', '.config/lkm/config.json'].map(read);
  const secrets = secretsIn([...ran.map(({ stdout }) => stdout), ...texts].join('\n'));
  expect(Object.entries(secrets).filter(([, found]) => found.size === 0)).toEqual([]);
  const log = server.printed.stderr;
  const record = ran.filter(({ path }) => /^(audit|events) (list|tail)$/.test(path)).map(({ stdout }) => stdout);
  const databases = ['lkm.db', 'backup.db', 'served.db', 'copy.db', 'restored.db', 'other.db'].map(read);
  const shown: Record<string, string> = {
    ...Object.fromEntries(ran.map(({ path, stderr }, i) => [`stderr of ${path}, ${i}`, stderr])),
    ...{ log, metrics: scraped, record: record.join('\n'), processes: read('processes.txt') },
    'exported record': under('audit').map(read).join('\n'),
  };
  const stored: Record<string, string> = {
    databases: `${databases.join('')}${whileServed}`,
    journal: under('.local/state').map(read).join('\n'),
  };
  const hits = (places: Record<string, string>, kinds: readonly string[]) =>
    Object.entries(places).flatMap(([name, text]) =>
      kinds.flatMap((kind) =>
        [...(secrets[kind] ?? [])].filter((one) => text.includes(one)).map((one) => [name, kind, one]),
      ),
    );
  expect(hits(shown, Object.keys(secrets))).toEqual([]);
  expect(
    hits(
      stored,
      Object.keys(secrets).filter((kind) => !kept.includes(kind)),
    ),
  ).toEqual([]);
  // Not because nothing was looked at.
  expect(ran.filter(({ code }) => code === 0).length).toBeGreaterThan(commandEntries.length);
  expect(log).toContain('"route":"/key/sign"');
  expect(scraped).toContain('route="/key/sign"');
  expect(shown.record).toContain('license.created');
  expect(shown['exported record']).toContain('keys.create');
  expect(shown.processes).toContain('processes.txt');
  expect(stored.databases).toContain(shop.product);
});
it('no command takes a token, a master key or a passphrase on its command line', async () => {
  const flags: string[] = [];
  for (const entry of commandEntries)
    flags.push(
      ...JSON.stringify((await entry.load()).options)
        .matchAll(/--[a-z-]+[^",]*/g)
        .map(String),
    );
  expect(flags).toContain('--network <CIDR>');
  expect(flags.filter((flag) => /^--(token|api-key|passphrase|secret|master-key|password)[ =]/.test(flag))).toEqual([]);
});
