import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { createClient } from '../src/index.ts';
import { type RunningServer, startServer } from '../src/server/serve.ts';

const root = join(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'lkm-examples-'));
let server: RunningServer;
let env: Record<string, string>;

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
  const licenseKey = (await client.keys.create({ productId })).key;
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

interface Ran {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program without blocking this process, which is its server. */
const run = (command: string, ...args: string[]): Promise<Ran> => runWith({}, command, ...args);

function runWith(more: Readonly<Record<string, string>>, command: string, ...args: string[]): Promise<Ran> {
  return new Promise((resolve) => {
    execFile(command, args, { cwd: folder, env: { ...env, ...more } }, (error, stdout, stderr) => {
      resolve({ status: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

const example = (name: string): string => join(root, 'examples', name);

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

describe('github-action', () => {
  async function openAction(others: Readonly<Record<string, string>> = {}) {
    const { inputs, outputs, runs } = parse(readFileSync(example('github-action/action.yml'), 'utf8'));
    const [step] = runs.steps;
    const given: Record<string, string> = {
      'base-url': env.LKM_BASE_URL ?? '',
      token: await issuingToken(),
      product: env.LKM_PRODUCT ?? '',
      reference: 'order-"7" $(id)',
      lkm: 'lkm',
      ...others,
    };
    const inputOf = (name: string): string => given[name] ?? inputs[name].default;
    const named = Object.entries<string>(step.env).map(([name, text]) => {
      const [, input = ''] = /^\$\{\{ inputs\.([a-z-]+) \}\}$/.exec(text) ?? [];
      return [name, inputOf(input)] as const;
    });
    const output = join(folder, 'github-output');
    const more = { ...Object.fromEntries(named), GITHUB_ACTIONS: 'true', GITHUB_OUTPUT: output, CI: 'true' };
    return { outputs, step, output, issue: () => runWith(more, step.shell, '-e', '-c', step.run) };
  }

  /** A token that may do what the action asks for, and no more. */
  async function issuingToken(): Promise<string> {
    const client = createClient({ baseUrl: server.url, token: env.LKM_TOKEN ?? '' });
    return (await client.tokens.create({ name: 'ci', kind: 'scoped', scopes: ['license:write'], maxIssues: 10 })).token;
  }

  it('hands one key for each reference to the next steps, masked in the log', async () => {
    const { outputs, step, output, issue } = await openAction();
    const first = await issue();
    const again = await issue();
    const [set, setAgain] = readFileSync(output, 'utf8').matchAll(/^key<<(\S+)\n(.*)\n\1\n/gm);
    const key = set?.[2] ?? '';
    expect(key).toMatch(/^(?:[0-9A-Z]{5}-){4}[0-9A-Z]{5}$/);
    expect(setAgain?.[2]).toBe(key);
    for (const { status, stdout, stderr } of [first, again]) {
      expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
      expect(stderr.split('\n')).toContain(`::add-mask::${key}`);
      expect(stderr.replaceAll(`::add-mask::${key}`, '')).not.toContain(key);
    }
    expect(outputs.key.value).toBe(`\${{ steps.${step.id}.outputs.key }}`);
  });

  it('fails where the reference has a key with other limits, unless that is allowed', async () => {
    await (await openAction({ reference: 'order-8' })).issue();
    const other = { reference: 'order-8', 'max-activations': '3' };
    const refused = await (await openAction(other)).issue();
    expect(refused.status).toBe(1);
    expect(refused.stderr).toContain('::error::The key of this reference differs in maxActivations\n');
    expect(await (await openAction({ ...other, 'allow-different': 'true' })).issue()).toMatchObject({ status: 0 });
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
