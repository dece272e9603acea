import { beforeAll, describe, expect, it } from 'vitest';
import { lkm, tempFolder } from './fake-io.ts';

/** What a seller or a customer may call a thing: a formula, a substitution of a shell, and a sign that turns text round. */
const HOSTILE = `=1+1|'$(touch x)'\u202e\`id\`;"`;

/** The lists, and what shows one thing, by the words that make them. */
const views = [
  'products list',
  'products versions PRODUCT',
  'products get PRODUCT',
  'customers list',
  'customers get CUSTOMER',
  'customers keys CUSTOMER',
  'keys list --fields key,reference,metadata,allowedHosts',
  'keys list',
  'keys get KEY',
  'keys why KEY --host-id other',
  'keys history KEY',
  'keys export',
  'devices list KEY',
  'sessions list',
  'tokens list',
  'webhooks list',
  'events list',
  'audit list',
  'stats',
];

const cwd = tempFolder();
const env = { LKM_DB: 'lkm.db', NO_COLOR: '1' };
const names: Record<string, string> = {};

beforeAll(async () => {
  const run = async (...argv: string[]): Promise<string> => {
    const { code, stdout, stderr } = await lkm(argv, { cwd, env });
    if (code !== 0) throw new Error(`${argv.join(' ')}: ${stderr}`);
    return stdout.trim();
  };
  names.PRODUCT = await run('products', 'create', '--name', HOSTILE, '-q', '--create');
  await run('products', 'add-version', names.PRODUCT, HOSTILE, '--description', HOSTILE);
  names.CUSTOMER = await run('customers', 'create', '--name', HOSTILE, '-q');
  const owner = ['-P', names.PRODUCT, '--customer', names.CUSTOMER];
  const own = ['--reference', HOSTILE, '--metadata', `note=${HOSTILE}`, '--feature', `f=${HOSTILE}`];
  names.KEY = await run('keys', 'create', ...owner, ...own, '--allow-host', HOSTILE, '--allow-host', 'h');
  await run('keys', 'activate', names.KEY, '--host-id', HOSTILE, '--tag', HOSTILE);
  const floating = await run('keys', 'create', '-P', names.PRODUCT, '--type', 'floating');
  await run('keys', 'checkout', floating, '--host-id', HOSTILE, '--tag', HOSTILE, '--user', HOSTILE);
  await run('tokens', 'create', '--kind', 'read-only', '--name', HOSTILE);
});

describe('names that others chose', () => {
  const line = (words: string) => words.split(' ').map((word) => names[word] ?? word);

  it.each(views)('turn nothing round and are no formula in %s', async (words) => {
    for (const format of ['table', 'tsv', 'csv', 'json', 'jsonl']) {
      for (const terminal of [true, false]) {
        const { code, stdout, stderr } = await lkm([...line(words), '--format', format], { cwd, env, terminal });
        expect({ code: words.startsWith('keys why') ? 0 : code, format }).toEqual({ code: 0, format });
        // A file that is imported again has every sign.
        if (terminal || words !== 'keys export') expect(stdout + stderr).not.toContain('\u202e');
        if (format === 'csv') expect(stdout).not.toMatch(/(^|,)"?[=+@]/m);
      }
    }
  });

  it('are shown, and as JSON they are what they were', async () => {
    const { stdout } = await lkm(['products', 'list'], { cwd, env, terminal: true, columns: 120 });
    expect(stdout).toContain(HOSTILE.replace('\u202e', '\\u{202e}'));
    const asJson = await lkm(['products', 'list', '--json'], { cwd, env });
    expect(JSON.parse(asJson.stdout)).toMatchObject([{ name: HOSTILE }]);
  });
});
