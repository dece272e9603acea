import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { toReport } from '../../src/cli/failure/report.ts';
import { commandEntries } from '../../src/cli/tree.ts';
import { fieldOf, fieldSchema } from '../../src/cli/values/check-fields.ts';
import { mintToken } from '../../src/domain/token.ts';
import { ApiError, NetworkError, ProtocolError } from '../../src/index.ts';
import { lkm, NOW } from './fake-io.ts';
import { against, brokenBy, issued, listed, PRODUCT, refusal } from './scripted-service.ts';
import { openShop } from './shop.ts';

const create = ['keys', 'create', '-P', PRODUCT];

describe('a token', () => {
  const authorizationFor = async (token: string) => {
    const { seen, ...ran } = await against('customers list', [listed([])], { env: { LKM_TOKEN: token } });
    return { ...ran, sent: seen.map(({ authorization }) => authorization) };
  };

  it.each(['lkm_admin_1\n', 'lkm_admin_1\r\n', ' lkm_admin_1 '])(
    '%j is sent without the space around it',
    async (token) => {
      expect(await authorizationFor(token)).toMatchObject({ code: 0, sent: ['Bearer lkm_admin_1'] });
    },
  );

  it.each(['lkm_admin_1\nlkm_admin_2', 'lkm admin 1', 'lkm_ädmin', '\n', 't'.repeat(1_025)])(
    '%j is refused by name and never shown',
    async (token) => {
      const { code, stderr, sent } = await authorizationFor(token);
      expect({ code, sent }).toEqual({ code: 2, sent: [] });
      expect(stderr).toContain('error: the text from LKM_TOKEN is not a token\n');
      expect(stderr).not.toContain('admin_2');
    },
  );

  it.each(['"lkm_admin_2"', "'lkm_admin_2'", 'LKM_TOKEN=lkm_admin_2'])(
    '%j is refused: the service would not know it',
    async (token) => {
      const { code, stderr, sent } = await authorizationFor(token);
      expect({ code, sent }).toEqual({ code: 2, sent: [] });
      expect(stderr).toContain('  Give it alone: without quotes');
      expect(stderr).not.toContain('admin_2');
    },
  );

  const whole = mintToken('admin', new Uint8Array(32).fill(7));

  it.each([
    [
      'a file of a token',
      ['keys', 'list', '--token-file', whole],
      'error: cannot read lkm_admin_…: no such file or folder (ENOENT)',
    ],
    ['a file', ['tokens', 'check', whole], 'error: a token was given in place of a file\n'],
    ['a profile', ['keys', 'list', '-p', whole], "there is no profile 'lkm_admin_…'"],
    ['a command', [whole], "unknown command 'lkm_admin_…'"],
    ['a number', ['keys', 'list', '--limit', whole], 'lkm_admin_…'],
    ['half a word, for a program', ['keys', 'list', '--json', '-p', whole.slice(0, 50)], 'lkm_admin_…'],
  ])('that was typed as %s is not printed', async (_, argv, says) => {
    const { stdout, stderr } = await against([...argv, '--debug'], [listed([])]);
    expect(stderr).toContain(says);
    expect(stdout + stderr).not.toContain(whole.slice(10, 30));
  });
});

it.each([
  ['a webhook', ['webhooks', 'test']],
  ['a profile', ['keys', 'list', '-p']],
  ['a command', []],
])('the secret of a webhook that was typed as %s is not printed', async (_, argv) => {
  const secret = 'whsec_DGChDrVabg0lHYpAcp7Ojs1qaurziLA4m0yFVMWddxE=';
  const { stdout, stderr } = await against([...argv, secret, '--debug'], [listed([])]);
  expect(stderr).toContain("'whsec_…'");
  expect(stdout + stderr).not.toContain('DGChDr');
});

describe('an option that takes one of a list', () => {
  it('that may be given several times may have them in one text too', async () => {
    const dryRun = (scopes: string) => against(`tokens create --name n --kind scoped -n --json --scope ${scopes}`, []);
    for (const both of ['license:read --scope audit:read', 'license:read,audit:read']) {
      const { stdout } = await dryRun(both);
      expect(JSON.parse(stdout).request.body.scopes).toEqual(['license:read', 'audit:read']);
    }
    const wrong = await dryRun('license:read,');
    expect(wrong.stderr).toContain("--scope: '' is not one of license:read");
  });

  it('keeps the commas of a text that may have them', async () => {
    const { stdout } = await against([...create, '--metadata', 'note=a,b', '-n', '--json'], []);
    expect(JSON.parse(stdout).request.body.metadata).toEqual({ note: 'a,b' });
  });

  it.each(commandEntries)(
    'has the list of the contract, and shows it in the help of lkm $path',
    async ({ path, load }) => {
      const command = await load();
      const { stdout } = await lkm([...path.split(' '), '--help']);
      for (const [name, spec] of Object.entries(command.options)) {
        const { choices, kind } = spec;
        const field = kind === 'switch' ? undefined : fieldOf(command, name, spec);
        if (field !== undefined) expect(choices ?? null).toEqual(valuesOf(fieldSchema(command.operation ?? '', field)));
        for (const choice of choices ?? []) expect(stdout).toContain(choice);
      }
    },
  );
});

/** The values of an enumeration, or of a list of one; null for another schema. */
function valuesOf(schema: unknown): readonly unknown[] | null {
  const { options, element, out, unwrap } = schema as {
    options?: readonly unknown[];
    element?: unknown;
    out?: unknown;
    unwrap?: () => unknown;
  };
  if (Array.isArray(options) && options.every((option) => typeof option === 'string')) return options;
  if (element !== undefined) return valuesOf(element);
  if (out !== undefined) return valuesOf(out);
  return unwrap === undefined ? null : valuesOf(unwrap.call(schema));
}

describe('a word that is not a command', () => {
  /** Words of this service's field, which may become commands. */
  const unknown = ['refund', 'relase', 'delet', 'revok', 'transfr', 'rotat', 'remov'];

  it.each(unknown)("'keys %s' is not taken for another command, nor for its opposite", async (word) => {
    const { code, stderr } = await lkm(['keys', word, 'K']);
    expect(code).toBe(2);
    expect(stderr).toBe(`error: unknown command '${word}': see lkm keys --help\n`);
  });

  it.each([
    ['creat', 'create'],
    ['sing', 'sign'],
    ['activat', 'activate'],
    ['verfy', 'verify'],
  ])("'keys %s' may mean %s", async (word, meant) => {
    expect((await lkm(['keys', word])).stderr).toContain(`unknown command '${word}'. Did you mean ${meant}?\n`);
  });
});

describe('what the schema library says', () => {
  const deep = 'a.'.repeat(50_000);
  const long = 'x'.repeat(100_000);

  it.each<[what: string, argv: string[]]>([
    ['an empty host', [...create, '--allow-host', '']],
    ['a feature with a deep name', [...create, '--feature', `${deep}=1`]],
    ['a feature with a long value', [...create, '--feature', `a=${long}`]],
    ['a feature that is a prototype', [...create, '--feature', '__proto__=1']],
    ['a feature without a name', [...create, '--feature', '=1']],
    ['metadata with a long name', [...create, '--metadata', `${deep}=1`]],
    ['metadata with a long value', [...create, '--metadata', `a=${long}`]],
    ['metadata with a control character', [...create, '--metadata', 'a=b\u0007']],
    ['a deep field', [...create, '--fields', deep]],
    ['a field of every object', [...create, '--fields', '__proto__,constructor']],
    ['a control character in a name', ['customers', 'create', '--name', 'a\u0007b']],
    ['a blank name', ['customers', 'create', '--name', '   ']],
    ['a long name', ['customers', 'create', '--name', long]],
    ['a long product', ['keys', 'create', '-P', long]],
    ['a long command', [long]],
    ['a long option', [...create, `--${long}`]],
    ['a lone surrogate', ['customers', 'create', '--name', '\ud800']],
    ['a long address', ['customers', 'create', '--name', 'n', '--email', `${long}@a.example`]],
    ['an endless number', [...create, '--max-activations', '9'.repeat(10_000)]],
    ['a year without end', [...create, '--expires', `${'9'.repeat(9)}y${'9'.repeat(9)}mo`]],
  ])('is not shown for %s, which is a mistake and no bug', async (_, argv) => {
    const { code, stdout, stderr, seen } = await against(argv, []);
    expect({ code, stdout, seen }).toEqual({ code: 2, stdout: '', seen: [] });
    expect(stderr).toMatch(/^error: .+\n/);
    expect(stderr).not.toMatch(/Too (small|big)|Invalid|expected|bug/i);
    expect(stderr.length).toBeLessThan(1_500);
  });

  it.each<[argv: string[], message: string]>([
    [features(41), '--feature does not fit: at most 40 members'],
    [metadata(50), ''],
    [metadata(51), '--metadata does not fit: at most 50 free entries'],
    [metadata(20, 'x'.repeat(480)), '--metadata does not fit: at most 8192 bytes as JSON'],
    [['--metadata', `order=${'x'.repeat(501)}`], ''],
    [['--metadata', 'order'], "--metadata: 'order' has no value; write NAME=VALUE"],
    [['--metadata', '=1'], "--metadata: '=1' has no name; write NAME=VALUE"],
    [['--metadata', 'features=sso'], '--metadata: features has an option of its own: --feature'],
    [['--metadata', 'is_trial=true'], '--metadata: is_trial has an option of its own: --trial'],
    [['--metadata', 'a=1', '--metadata', 'b=2', '--metadata', 'a=3'], '--metadata a is given twice'],
    [['--feature', 'a', '--feature', 'b', '--feature', 'a=false'], '--feature a is given twice'],
  ])('is the bound of the contract in plain words (%#)', async (argv, message) => {
    const { code, stderr, seen } = await against([...create, '--expires', 'never', '-q', ...argv], [issued]);
    const isTaken = message === '';
    expect({ code, stderr }).toEqual({ code: isTaken ? 0 : 2, stderr: isTaken ? '' : `error: ${message}\n` });
    expect(seen).toHaveLength(isTaken ? 1 : 0);
  });
});

const features = (count: number): string[] => Array.from({ length: count }, (_, at) => ['--feature', `f${at}`]).flat();

const metadata = (count: number, value = ''): string[] =>
  Array.from({ length: count }, (_, at) => ['--metadata', `m${at}=${value}`]).flat();

describe('a certificate', () => {
  it.each<[when: string, code: string, says: string]>([
    ['signed by itself', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'is not signed by an authority that this machine trusts'],
    ['too old', 'CERT_HAS_EXPIRED', 'its certificate has expired'],
    ['for another name', 'ERR_TLS_CERT_ALTNAME_INVALID', 'its certificate is for another name'],
    ['none, since TLS is not spoken', 'ERR_SSL_WRONG_VERSION_NUMBER', 'it does not speak TLS'],
  ])('that is %s is explained without the words of OpenSSL', async (_, code, says) => {
    const ran = await against([...create, '--max-retries', '0'], [brokenBy(code)]);
    expect(ran.code).toBe(11);
    expect(ran.stderr).toContain(`error: cannot connect to licensing.example.com: `);
    expect(ran.stderr).toContain(says);
    expect(ran.stderr).not.toContain('ssl3_get_record');
  });

  it('is not found at an address without TLS, said by a real connection', async () => {
    const server = createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const env = { LKM_BASE_URL: `https://127.0.0.1:${port}` };
    const { code, stderr } = await against([...create, '--max-retries', '0'], [], { env, fetch: undefined });
    server.close();
    expect(code).toBe(11);
    expect(stderr).toContain(`error: cannot connect to 127.0.0.1:${port}: it does not speak TLS\n`);
  });
});

describe('an answer of the service', () => {
  const situation = { baseUrl: 'https://shop.example', tokenFrom: null, now: NOW, rerun: () => 'lkm again' };
  const call = { operation: 'POST /create-key', idempotencyKey: 'k', attempts: 5 };

  it('that is a server error has its status and the attempts', async () => {
    const { stderr } = await against([...create, '--max-retries', '2'], [refusal(500, 1, 'Server error')]);
    expect(stderr).toContain('  POST /create-key answered 500 (code 1) at attempt 3, the last.\n');
  });

  it.each([
    ['', 312_000, '5m12s: try again after 12:05:12 UTC, or add --max-wait 5m12s.'],
    [
      ', and a longer wait where short ones were too many',
      1_000,
      '1s: try again after 12:00:01 UTC, or add --max-wait 10m.',
    ],
  ])('that says when to come back is given with the time%s', (_title, retryAfterMs, told) => {
    const limited = new ApiError({
      reason: 'rateLimited',
      status: 429,
      code: 3,
      message: 'Rate limit exceeded',
      retryAfterMs,
      call,
    });
    const { exitCode, hints } = toReport(limited, situation);
    expect(exitCode).toBe(9);
    expect(hints.at(-1)).toBe(`The service asks to wait ${told}`);
  });

  it('that cannot be from lkm ends with 10 and asks about the address, also after a change', () => {
    const page = new ProtocolError('the service answered 200 with something that is not JSON', {
      call,
      status: 200,
      foreign: true,
    });
    const { exitCode, retryable, hints } = toReport(page, situation);
    expect({ exitCode, retryable }).toEqual({ exitCode: 10, retryable: false });
    expect(hints.at(-1)).toBe(
      'There is no lkm service at this address: is https://shop.example the address of the service, with its path?',
    );
  });

  it('that never came to a read can be asked for again', () => {
    const lost = new NetworkError('no answer', { call: { ...call, idempotencyKey: null }, sent: true, timedOut: true });
    expect(toReport(lost, situation).hints).toEqual(['This request only reads; it is safe to run it again.']);
  });
});

it('repeats no key where it stands in the place of something else, and may be logged', async () => {
  const { at, answer } = await openShop();
  const key = await answer('keys create -P Engine -q');
  const { code, stderr } = await at(`customers get ${key}`);
  expect([code, stderr.split('\n')[0]]).toEqual([6, `error: no customer is called '…${key.slice(-5)}'`]);
  expect(stderr).not.toContain(key);
});

it.each([
  ['customers get TEXT', '4711-ABCD-9F3K', '…9F3K'],
  ['customers get TEXT', 'ABCDEF-GHIJKL', '…IJKL'],
  ['customers get TEXT', 'it’s4711', '…'],
  ['plans get TEXT --debug', '0a51c3d8-77b1-4b5e', '…4b5e'],
  ['keys create --customer TEXT', 'AB12CD34', '…'],
  ['audit list --by TEXT', 'a4711b4711c4711', '…4711'],
  ['keys list -p TEXT', 'a4711b4711c4711', '…4711'],
])('shows no key of another system to the log of a job: %s', async (line, text, shown) => {
  const shop = await openShop();
  shop.names.TEXT = text;
  const { stderr } = await shop.at(line);
  expect(stderr).toContain(`'${shown}'`);
  expect(stderr).not.toContain(text);
  expect((await shop.at(line, { terminal: { stderr: true } })).stderr).toContain(text);
});

it.each(['Ada', 'Ada Ltd', 'cus_01hq3k7x9d5v8w2m4n6p0r1s7t'])(
  'repeats a name and an id that nobody has: %s',
  async (text) => {
    const shop = await openShop();
    shop.names.TEXT = text;
    expect((await shop.at('customers get TEXT')).stderr).toContain(text);
  },
);
