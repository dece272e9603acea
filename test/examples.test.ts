import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient } from '../src/index.ts';
import { type RunningServer, startServer } from '../src/server/serve.ts';

const root = join(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'lkm-examples-'));
let server: RunningServer;
let env: Record<string, string>;
let licenseKey: string;

beforeAll(async () => {
  server = await startServer({
    db: join(folder, 'lkm.db'),
    host: '127.0.0.1',
    port: 0,
    logFormat: 'none',
    logTo: { write: () => {} },
  });
  const token = server.created?.adminToken ?? '';
  const client = createClient({ baseUrl: server.url, token });
  const { id: productId } = await client.products.create({ name: 'Engine Pro' });
  licenseKey = (await client.keys.create({ productId })).key;
  const { file } = await client.keys.sign({ productId, licenseKey, hostId: 'build-01' });
  writeFileSync(join(folder, 'app.lic'), file);
  writeFileSync(join(folder, 'jwks.json'), JSON.stringify(await client.signingKeys.jwks()));
  mkdirSync(join(folder, 'bin'));
  symlinkSync(join(root, 'bin/lkm.js'), join(folder, 'bin/lkm'));
  env = {
    PATH: [join(folder, 'bin'), dirname(process.execPath), process.env.PATH].join(delimiter),
    HOME: folder,
    LKM_BASE_URL: server.url,
    LKM_TOKEN: token,
    LKM_PRODUCT: productId,
  };
});

afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

/** Runs a program beside this one, which serves it meanwhile. */
function run(command: string, ...args: string[]): Promise<{ status: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(command, args, { cwd: folder, env }, (error, stdout, stderr) => {
      resolve({ status: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

const example = (name: string): string => join(root, 'examples', name);

describe('verify-with-openssl.sh', () => {
  const verify = (file: string) => run(example('verify-with-openssl.sh'), file, 'jwks.json');

  it('verifies a licence file with openssl alone', async () => {
    const { stdout, status } = await verify('app.lic');
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ key: licenseKey, machine: 'build-01', type: 'offline', v: 1 });
  });

  it('refuses a file whose claims were changed', async () => {
    const file = JSON.parse(readFileSync(join(folder, 'app.lic'), 'utf8')) as { licenseToken: string };
    const [header = '', claims = '', signature = ''] = file.licenseToken.split('.');
    const changed = JSON.parse(Buffer.from(claims, 'base64url').toString()) as Record<string, unknown>;
    changed.machine = 'laptop-9';
    const forged = Buffer.from(JSON.stringify(changed)).toString('base64url');
    writeFileSync(
      join(folder, 'forged.lic'),
      JSON.stringify({ ...file, licenseToken: [header, forged, signature].join('.') }),
    );
    expect(await verify('forged.lic')).toEqual({
      status: 1,
      stdout: '',
      stderr: 'the signature does not fit: the file was changed after it was signed\n',
    });
  });

  it('verifies a file and keys that were reformatted', async () => {
    const reformat = (name: string, to: string, indent: number | string, eol = '\n') => {
      const text = JSON.stringify(JSON.parse(readFileSync(join(folder, name), 'utf8')), null, indent);
      writeFileSync(join(folder, to), text.replaceAll('\n', eol));
    };
    reformat('app.lic', 'spaced.lic', 2);
    reformat('jwks.json', 'spaced.json', '\t', '\r\n');
    const { stdout, status, stderr } = await run(example('verify-with-openssl.sh'), 'spaced.lic', 'spaced.json');
    expect({ status, stderr }).toEqual({ status: 0, stderr: 'the signature is good\n' });
    expect(JSON.parse(stdout)).toMatchObject({ key: licenseKey });
  });

  it.each([
    ['{}', 'junk.lic is not a licence file: it has no licenseToken\n'],
    ['{"licenseToken":"abc"}', 'junk.lic is not a licence file: its licenseToken is damaged\n'],
    ['', 'junk.lic is not a licence file: it has no licenseToken\n'],
  ])('says what is wrong with %j', async (text, stderr) => {
    writeFileSync(join(folder, 'junk.lic'), text);
    expect(await verify('junk.lic')).toEqual({ status: 1, stdout: '', stderr });
  });

  it('says that the key of the file is not among those it trusts', async () => {
    writeFileSync(join(folder, 'none.json'), '{"keys":[]}');
    const ran = await run(example('verify-with-openssl.sh'), 'app.lic', 'none.json');
    expect(ran).toMatchObject({ status: 1, stdout: '' });
    expect(ran.stderr).toMatch(/^no key in none\.json has the id \S+, which signed the file\n$/);
  });
});

describe('verify-license-file.ts', () => {
  it('says who is licensed, and who is not', async () => {
    const verify = (hostId: string) => run('node', example('verify-license-file.ts'), 'app.lic', 'jwks.json', hostId);
    expect(await verify('build-01')).toEqual({ status: 0, stdout: 'licensed for build-01\n', stderr: '' });
    expect(await verify('laptop-9')).toEqual({ status: 1, stdout: '', stderr: 'not licensed: machine_mismatch\n' });
  });
});

describe('ci-issue-key.sh', () => {
  it('prints a licence key and nothing else on stdout, and the same one when the job runs again', async () => {
    const issue = () => run(example('ci-issue-key.sh'), '1001', '2099-12-31');
    const { stdout, status } = await issue();
    expect(status).toBe(0);
    expect(stdout).toMatch(/^(?:[0-9A-Z]{5}-){4}[0-9A-Z]{5}\n$/);
    expect(await issue()).toMatchObject({ status: 0, stdout });
  });
});

describe('issue-key.ts', () => {
  it('issues one key per order, to a new customer and to a returning one, and says why it does not', async () => {
    const issue = (order: string, email: string, product = env.LKM_PRODUCT ?? '') =>
      run('node', example('issue-key.ts'), order, product, email);
    const first = await issue('1', 'ada@ada.example');
    expect(first).toMatchObject({ status: 0, stdout: expect.stringMatching(/^.{29}\n$/) });
    const second = await issue('2', 'Ada@ada.example');
    expect(second).toMatchObject({ status: 0, stdout: expect.stringMatching(/^.{29}\n$/), stderr: '' });
    expect(second.stdout).not.toBe(first.stdout);
    expect(await issue('1', 'ada@ada.example')).toEqual(first);
    expect(await issue('2', 'Ada@ada.example')).toEqual(second);
    expect(await issue('3', 'bob@ada.example', 'prod_01jx0000000000000000000000')).toEqual({
      status: 1,
      stdout: '',
      stderr: 'refused: Product not found or inactive (productUnavailable)\n',
    });
  });
});

describe('embed-server.ts', () => {
  it('runs the service inside a program', async () => {
    const { stdout, status } = await run('node', example('embed-server.ts'), 'embedded.db');
    expect(status).toBe(0);
    expect(stdout).toMatch(/^.{29} expires \d{4}-\d\d-\d\dT/);
  });
});
