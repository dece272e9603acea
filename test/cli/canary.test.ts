import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { CommandEntry } from '../../src/cli/command.ts';
import { commandEntries } from '../../src/cli/tree.ts';
import { toOpenApi } from '../../src/contract/openapi/openapi.ts';
import { mintToken } from '../../src/domain/token.ts';
import { leaks, secretsIn } from '../support/secrets.ts';
import { canaryCommands, follows, fromExample, isOffline, LISTS_PROCESSES, type Shop } from './canary-commands.ts';
import { lkm, type Ran, type Surroundings, tempFolder } from './fake-io.ts';
import { started } from './started.ts';

const EMAIL = 'canary-4b1d@example.com';
const MASTER = Buffer.alloc(32, 9).toString('base64');
const NEXT_MASTER = Buffer.alloc(32, 10).toString('base64');
const STOLEN = mintToken('admin', new Uint8Array(32).fill(3));
/** A secret of another system. */
const IMPORTED = 'canary7e0d4b1f9a6c4e2b8d5f3a1c';
const FOLLOW_MS = 300;

/** A folder in which commands run as one user, and all that they printed. */
function workplace() {
  const cwd = tempFolder();
  const write = (name: string, text: string) => writeFileSync(join(cwd, name), text, { mode: 0o600 });
  write('master.key', MASTER);
  write('lists-processes.cjs', LISTS_PROCESSES);
  const ran: (Ran & { readonly line: string })[] = [];
  const env = { LKM_MASTER_KEY_FILE: 'master.key' };
  const at = async (line: string, more: Surroundings = {}): Promise<string> => {
    const words = line.split(' ').filter(Boolean);
    const result = await lkm(words, { cwd, env, now: Date.now(), stdin: STOLEN, ...more });
    ran.push({ ...result, line });
    return result.stdout.trim();
  };
  const read = (name: string) => readFileSync(join(cwd, name)).toString('latin1');
  return { cwd, write, read, at, ran };
}

type Workplace = ReturnType<typeof workplace>;

/** Makes one of everything, and the files that commands read. */
async function furnish({ at, write }: Workplace, url: string): Promise<Shop> {
  const json = async (line: string) => JSON.parse(await at(`${line} --json`));
  const product = await at('products create --name Editor -q');
  const { id: version } = await json(`products add-version ${product} 1.0`);
  const customer = await at(`customers create --name Zoë --email ${EMAIL} -q`);
  const former = await at(`customers create --name Zoë --email former-${EMAIL} -q`);
  const keyOf = (limits = '') => at(`keys create -P ${product} --customer ${customer} ${limits}`);
  const [key, full, floating, doomed] = [
    await keyOf(),
    await keyOf('--max-activations 1'),
    await keyOf('--type floating --max-sessions 2'),
    await keyOf(),
  ];
  const names = { key, 'full-key': full, 'floating-key': floating, 'doomed-key': doomed };
  for (const [name, text] of Object.entries(names)) write(`${name}.txt`, text);
  write('wrong-key.txt', `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`);
  await at(`keys activate @full-key.txt -P ${product} --host-id other`);
  await at(`keys sign @key.txt -P ${product} --host-id h -o a.lic`);
  const licenseToken = JSON.parse(await at(`keys sign @key.txt -P ${product} --host-id h -o -`));
  write('broken.lic', JSON.stringify({ ...licenseToken, signedKey: `${key}x` }).slice(0, -9));
  await at(`keys checkout @floating-key.txt -P ${product} --user ${EMAIL} --json -o session.json`);
  write('broken.json', `{"sessionSecret":"${MASTER}"`);
  const [{ id: session = '' } = {}] = await json('sessions list');
  await at('tokens create --kind admin --name ci');
  const token = (await json('tokens list')).find(({ name }: { name: string }) => name === 'ci').id;
  await at(`webhooks create --url ${url}/ready`);
  const [{ id: webhook }] = await json('webhooks list');
  write('orders.csv', `newCustomer.name,newCustomer.email\nZoë,order-${EMAIL}\nZoë,${EMAIL}\n`);
  write('customers.csv', `name,email\nZoë,row-${EMAIL}\nZoë,${EMAIL}\n`);
  write('import.csv', `productId,key,email\n${product},CANARY-0001-IMPORTED-KEY-0042,imported-${EMAIL}\n`);
  write('changes.csv', `key,maxActivations\n${key},7\nAAAAA-AAAAA-AAAAA-AAAAA-AAAAA,7\n`);
  write('stolen.csv', `key\n${full}\nAAAAA-AAAAA-AAAAA-AAAAA-AAAAA\n`);
  write('stolen.txt', `a log with ${STOLEN} in it\n`);
  write('token.txt', STOLEN);
  write('imported.txt', IMPORTED);
  write('next.key', NEXT_MASTER);
  write('openapi.json', JSON.stringify(toOpenApi()));
  await at('customers create -f customers.csv');
  const { account = '' } = /"account":"(?<account>acc_\w+)"/.exec(await at('audit list --json'))?.groups ?? {};
  return { product, version, customer, former, token, webhook, session, email: EMAIL, url, account };
}

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
      const line = `${path} ${words}${words.includes(' -- ') ? '' : ' --debug'}`;
      await at(line, stop);
      if (isOffline(path) || path === 'serve') continue;
      // The same with a token that is refused, and where nobody answers.
      await at(`${line} --token-file token.txt --max-retries 0`, stop);
      await at(`${line} --base-url http://127.0.0.1:9 --max-retries 0 --json`, stop);
    }
  };
  for (const entry of commandEntries) if (!isOffline(entry.path)) await run(entry);
  const scraped = await (await fetch(metrics)).text();
  const whileServed = ['lkm.db', 'lkm.db-wal'].map(read).join('');
  await at('db backup served.db --db lkm.db');
  expect(await server.stop()).toBe(0);
  for (const entry of commandEntries) if (isOffline(entry.path)) await run(entry);

  const files = readdirSync(cwd, { recursive: true, encoding: 'utf8' });
  const under = (folder: string) => files.filter((name) => name.startsWith(folder) && /\.\w+$/.test(name));
  const texts = ['a.lic', 'session.json', 'lent.txt', 'exported.csv', '.config/lkm/config.json'].map(read);
  const secrets = secretsIn([...ran.map(({ stdout }) => stdout), ...texts].join('\n'), {
    token: [STOLEN, IMPORTED],
    'master key': [MASTER, NEXT_MASTER],
    key: ['CANARY-0001'],
    email: [EMAIL],
  });
  const log = server.printed.stderr;
  const listed = ran.filter(({ line }) => /^(audit|events) (list|tail)\b/.test(line)).map(({ stdout }) => stdout);
  // Lists name the customer, by its address where it has no name, beside the record; the record itself has no address.
  const record = listed.join('\n').replaceAll(/"customer(?:Name|Email)": ?"[^"]*"/g, '');
  const databases = ['lkm.db', 'backup.db', 'served.db', 'copy.db', 'restored.db', 'other.db'].map(read);
  const shown: Record<string, string> = {
    ...Object.fromEntries(ran.map(({ line, stderr }, i) => [`stderr ${i} of ${line}`, stderr])),
    ...{ log, metrics: scraped, record, processes: read('processes.txt') },
    'exported record': under('audit').map(read).join('\n'),
  };
  const stored: Record<string, string> = {
    databases: `${databases.join('')}${whileServed}`,
    journal: under('.local/state').map(read).join('\n'),
  };
  expect(leaks(secrets, shown, stored)).toEqual([]);
  // Not because nothing was looked at.
  expect(ran.filter(({ code }) => code === 0).length).toBeGreaterThan(commandEntries.length);
  expect(log).toContain('"route":"/key/sign"');
  expect(scraped).toContain('route="/key/sign"');
  expect(shown.record).toContain('license.created');
  expect(shown['exported record']).toContain('keys.create');
  expect(shown.processes).toContain('lists-processes.cjs');
  expect(stored.databases).toContain(shop.product);
});

it('no command takes a token or a master key on its command line', async () => {
  const commands = await Promise.all(commandEntries.map(({ load }) => load()));
  const flags = [...JSON.stringify(commands.map(({ options }) => options)).matchAll(/--[a-z-]+[^",]*/g)].map(String);
  expect(flags).toContain('--network <CIDR>');
  expect(flags.filter((flag) => /^--(token|api-key|passphrase|secret|master-key|password)[ =]/.test(flag))).toEqual([]);
});
