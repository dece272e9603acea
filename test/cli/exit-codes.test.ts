import { describe, expect, it } from 'vitest';
import { lkm } from './fake-io.ts';
import { KEY, PRODUCT, refusal, remote, type Scripted, scriptedService } from './scripted-service.ts';

const create = ['keys', 'create', '-P', PRODUCT];
const get = ['keys', 'get', KEY, '-P', PRODUCT];
const sign = ['keys', 'sign', KEY, '-P', PRODUCT, '--host-id', 'h1'];
const deactivate = ['keys', 'deactivate', KEY, '-P', PRODUCT, '--host-id', 'h1'];
const newCustomer = ['customers', 'create', '--name', 'Ada Ltd', '--email', 'it@ada.example'];

const refused = new TypeError('fetch failed', {
  cause: Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED', syscall: 'connect' }),
});
const reset = new TypeError('fetch failed', {
  cause: Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }),
});

interface Row {
  readonly when: string;
  readonly argv: readonly string[];
  readonly answer: Scripted;
  readonly exitCode: number;
  readonly code: string;
  readonly retryable?: boolean;
}

const rows: Row[] = [
  {
    when: '400 to a change',
    argv: create,
    answer: refusal(400, 1, 'Missing required params'),
    exitCode: 2,
    code: 'invalid_params',
  },
  { when: '401', argv: get, answer: refusal(401, 1, 'Invalid access token'), exitCode: 4, code: 'invalid_token' },
  {
    when: '403, scope missing',
    argv: create,
    answer: refusal(403, 1, 'Insufficient permissions for this operation'),
    exitCode: 5,
    code: 'scope_missing',
  },
  {
    when: '403, not activated',
    argv: deactivate,
    answer: refusal(403, 2, 'License not activated'),
    exitCode: 5,
    code: 'not_activated',
  },
  {
    when: '403, no slot',
    argv: sign,
    answer: refusal(403, 3, 'Activation limit reached'),
    exitCode: 5,
    code: 'activation_limit',
  },
  {
    when: '404, product',
    argv: create,
    answer: refusal(404, 1, 'Product not found or inactive'),
    exitCode: 6,
    code: 'product_unavailable',
  },
  {
    when: '404, device',
    argv: deactivate,
    answer: refusal(404, 1, 'Device not found'),
    exitCode: 6,
    code: 'device_not_found',
  },
  {
    when: '409, e-mail',
    argv: newCustomer,
    answer: refusal(409, 2, 'A customer with email it@ada.example already exists'),
    exitCode: 7,
    code: 'email_taken',
  },
  {
    when: '409, the last admin token',
    argv: ['tokens', 'revoke', 'tok_1', '--yes'],
    answer: refusal(409, 11, 'This is the last admin token of the account'),
    exitCode: 7,
    code: 'last_admin_token',
  },
  {
    when: '409, a response that was not stored',
    argv: create,
    answer: refusal(409, 4, 'The answer to this idempotency key was not stored'),
    exitCode: 8,
    code: 'stored_response_missing',
    retryable: true,
  },
  {
    when: '409, in progress',
    argv: [...create, '--max-wait', '0s'],
    answer: refusal(409, 3, 'Request in progress'),
    exitCode: 8,
    code: 'outcome_unknown',
    retryable: true,
  },
  {
    when: '500 to a change',
    argv: create,
    answer: refusal(500, 1, 'Server error'),
    exitCode: 8,
    code: 'outcome_unknown',
    retryable: true,
  },
  {
    when: 'a lost answer to a change',
    argv: create,
    answer: reset,
    exitCode: 8,
    code: 'outcome_unknown',
    retryable: true,
  },
  {
    when: 'a change answered by another service',
    argv: create,
    answer: [200, 'a page'],
    exitCode: 10,
    code: 'bad_response',
  },
  {
    when: 'a change answered in a wrong shape',
    argv: create,
    answer: [200, { code: 0 }],
    exitCode: 8,
    code: 'outcome_unknown',
    retryable: true,
  },
  {
    when: '429',
    argv: get,
    answer: refusal(429, 3, 'Rate limit exceeded'),
    exitCode: 9,
    code: 'rate_limited',
    retryable: true,
  },
  {
    when: '500 to a question',
    argv: get,
    answer: refusal(500, 1, 'Server error'),
    exitCode: 10,
    code: 'server_error',
    retryable: true,
  },
  {
    when: '503',
    argv: create,
    answer: refusal(503, 1, 'Service unavailable'),
    exitCode: 10,
    code: 'unavailable',
    retryable: true,
  },
  {
    when: 'a question answered by a page',
    argv: get,
    answer: [200, 'a page'],
    exitCode: 10,
    code: 'bad_response',
  },
  {
    when: 'a question answered in a wrong shape',
    argv: get,
    answer: [200, { code: 0 }],
    exitCode: 10,
    code: 'bad_response',
    retryable: true,
  },
  { when: 'nobody there', argv: create, answer: refused, exitCode: 11, code: 'network', retryable: true },
  { when: 'a lost answer to a question', argv: get, answer: reset, exitCode: 11, code: 'network', retryable: true },
];

describe('a command that fails', () => {
  it.each(rows)('ends with $exitCode ($code) on $when', async ({ argv, answer, exitCode, code, retryable = false }) => {
    const { fetch } = scriptedService(answer);
    const ran = await lkm([...argv, '--max-retries', '0', '--json'], { fetch, env: remote });
    const { error } = JSON.parse(ran.stderr);
    expect({ exit: ran.code, stdout: ran.stdout, ...error }).toMatchObject({
      exit: exitCode,
      stdout: '',
      exitCode,
      code,
      retryable,
    });
  });

  it('says in JSON all that is known, on one line of stderr', async () => {
    const { fetch } = scriptedService(refusal(404, 1, 'Product not found or inactive'));
    const { stderr } = await lkm([...create, '--json'], { fetch, env: remote });
    expect(stderr.split('\n')).toHaveLength(2);
    expect(JSON.parse(stderr)).toEqual({
      error: {
        code: 'product_unavailable',
        message: 'product not found or inactive',
        exitCode: 6,
        status: 404,
        apiCode: 1,
        operation: 'POST /create-key',
        retryable: false,
        idempotencyKey: '00000001-0000-4000-8000-000000000000',
        hint: [
          'POST /create-key answered 404 (code 1). Nothing was changed.',
          'See them: lkm products list',
          'Resume one: lkm products update ID --active',
        ].join('\n'),
      },
    });
  });

  it('says to people what happened and what to do next', async () => {
    const { fetch } = scriptedService(refusal(409, 2, 'A customer with email it@ada.example already exists'));
    const { stderr } = await lkm(newCustomer, { fetch, env: remote });
    expect(stderr).toBe(
      [
        'error: a customer with this e-mail address already exists',
        '  POST /customer answered 409 (code 2). Nothing was changed.',
        '  Find it:  lkm customers list --email ADDRESS',
        '  Use it:   lkm keys create -P ID --customer ID',
        '',
      ].join('\n'),
    );
  });

  it('says of a key that was used before what may have changed the request', async () => {
    const { fetch } = scriptedService(refusal(400, 3, 'Idempotency key was used for a different request'));
    const ran = await lkm([...create, '--idempotency-key', 'order-1', '--expires', '12h'], { fetch, env: remote });
    expect(ran.code).toBe(2);
    expect(ran.stderr).toBe(
      [
        'error: this idempotency key was used for a different request',
        '  POST /create-key answered 400 (code 3). Nothing was changed.',
        '  A time such as --expires 12h counts from now, so it differs each time: give a day or an instant.',
        '  Leave --idempotency-key out for a new request; give it only to repeat one.',
        '',
      ].join('\n'),
    );
  });

  it('says where the refused token came from, and never the token', async () => {
    const { fetch } = scriptedService(refusal(401, 1, 'Invalid access token'));
    const { stderr } = await lkm([...get, '--debug'], { fetch, env: remote });
    expect(stderr).toContain('error: the service refused the token from LKM_TOKEN\n');
    expect(stderr).not.toContain(remote.LKM_TOKEN);
  });

  it('shows what was sent and received with --debug, and neither token nor key', async () => {
    const { fetch } = scriptedService(refusal(404, 1, 'License not found'));
    const { stderr } = await lkm([...get, '--debug'], { fetch, env: remote });
    expect(stderr).toMatch(/^> GET https:\/\/.*\/key\?productId=prod_\w+&licenseKey=…$/m);
    expect(stderr).toContain('> authorization: [redacted]\n');
    expect(stderr).toContain('< 404\n');
    expect(stderr).toContain('<   "message": "License not found",\n');
    expect(
      (await lkm([...get, '-v'], { fetch: scriptedService(refusal(404, 1, 'x')).fetch, env: remote })).stderr,
    ).not.toContain('< 404');
  });

  it('shows no secret with --debug wherever a response has it', async () => {
    const secrets = {
      token: `lkm_admin_${'7'.repeat(59)}`,
      key: 'ABCDE-FGHJK-MNPQR-STVWX-Y0123',
      secret: `whsec_${'S'.repeat(32)}`,
      file: 'eyJh.eyJb.c2lnbmF0dXJl',
    };
    const { token, key, secret, file } = secrets;
    const body = { message: `not for ${token}, ${key}, ${secret} or ${file}`, code: 1, ...secrets, of: [secrets] };
    const { fetch } = scriptedService([404, body]);
    const { stderr } = await lkm([...get, '--debug'], { fetch, env: remote });
    expect(stderr).toContain('< 404\n');
    const sent = stderr.slice(stderr.indexOf('< 404'), stderr.indexOf('< }'));
    expect(Object.values(secrets).filter((one) => sent.includes(one))).toEqual([]);
  });

  it('shows no half of a key with --debug where a long response is cut', async () => {
    // The text before the key is so long that the end of what is shown would fall into it.
    for (let before = 3_960; before < 3_990; before += 5) {
      const { fetch } = scriptedService([
        404,
        { message: `${'x '.repeat(before / 2)}ABCDE-FGHJK-MNPQR-STVWX-Y0123`, code: 1 },
      ]);
      const { stderr } = await lkm([...get, '--debug'], { fetch, env: remote });
      const shown = stderr.slice(stderr.indexOf('< 404'), stderr.indexOf('more characters'));
      expect(shown).toContain('x x x');
      expect(shown, `after ${before} characters`).not.toContain('ABCDE-');
    }
  });

  it('shows a stack only with --debug', async () => {
    const { fetch } = scriptedService(refusal(401, 1, 'Invalid access token'));
    expect((await lkm(get, { fetch, env: remote })).stderr).not.toContain('    at ');
    expect((await lkm([...get, '--debug'], { fetch, env: remote })).stderr).toContain('    at ');
  });
});

describe('a command line that is wrong', () => {
  const wrong: [why: string, argv: string[], says: string][] = [
    ['an unknown command', ['keys', 'creat'], "error: unknown command 'creat'. Did you mean create?\n"],
    ['a word too many', ['keys', 'list', 'key'], "too many arguments for 'list'. Expected 0 arguments but got 1\n"],
    [
      'variables from several rows',
      ['keys', 'create', '-P', PRODUCT, '--count', '2', '--format', 'env'],
      'error: --format env sets variables from one row, and there are several\n',
    ],
    [
      'variables from several changes',
      ['keys', 'block', KEY, KEY.replace(/.$/, 'Z'), '-P', PRODUCT, '--format', 'env'],
      'error: --format env sets variables from one row, and there are several\n',
    ],
    ['a key that is too short', ['keys', 'renew', 'K', '--for', '1y'], 'error: KEY is shorter than 23 characters\n'],
    ['an unknown option', [...create, '--max-activation', '3'], 'Did you mean --max-activations?\n'],
    [
      'a missing product',
      ['keys', 'create'],
      'error: --product is required\n  Give it:  -P, --product ID\n  Or set:   export LKM_PRODUCT=…\n',
    ],
    [
      'several options that are missing',
      ['tokens', 'create'],
      'error: --name and --kind are required\n' +
        '  Give it:  --name NAME\n' +
        '  Give it:  --kind KIND\n' +
        '  One of:   admin, read-only, client, scoped\n',
    ],
    [
      'an option that is missing beside one that a variable could give',
      ['keys', 'sign', KEY],
      'error: --host-id is required\n  Give it:  --host-id ID\n',
    ],
    [
      'a short product id',
      ['keys', 'create', '-P', 'prod_1234567'],
      'error: --product is shorter than 22 characters\n  See them:  lkm products list\n',
    ],
    ['a short key', ['keys', 'get', 'ABC', '-P', PRODUCT], 'error: KEY is shorter than 23 characters\n'],
    [
      'a long host id',
      ['keys', 'sign', KEY, '-P', PRODUCT, '--host-id', 'h'.repeat(65)],
      'error: --host-id is longer than 64 characters\n',
    ],
    ['a typo in a key', ['keys', 'get', 'AAAAA-AAAAA-AAAAA-AAAAA-AAAAB', '-P', PRODUCT], 'error: the key has a typo'],
    ['a masked key', ['keys', 'get', '*****-*****-*****-*****-85SB5', '-P', PRODUCT], 'error: the key is masked'],
    [
      'no activations at all',
      [...create, '--max-activations', '0'],
      "error: --max-activations: '0' is neither a whole number from 1 to 999999999 nor 'unlimited'\n",
    ],
    ['a day in the past', [...create, '--expires', '2020-01-01'], "error: --expires: '2020-01-01' is in the past\n"],
    [
      'a day that does not exist',
      [...create, '--expires', '2027-02-31'],
      "error: --expires: '2027-02-31' is not a date",
    ],
    [
      'an unknown licence type',
      [...create, '--type', 'nodelocked'],
      "error: --type: 'nodelocked' is not one of node-locked, floating\n",
    ],
    [
      'two customers',
      [...create, '--customer', 'c', '--new-customer-name', 'n'],
      'error: --customer and --new-customer-name cannot be combined',
    ],
    [
      'an address without a name',
      [...create, '--new-customer-email', 'a@b.example'],
      'error: --new-customer-name is missing\n',
    ],
    [
      'a bad address',
      ['customers', 'create', '--name', 'n', '--email', 'ada'],
      'error: --email is not an e-mail address\n',
    ],
    [
      'nothing to free',
      ['keys', 'deactivate', KEY, '-P', PRODUCT],
      'error: choose what to free: --host-id ID for one device, or --all-devices\n',
    ],
    ['nothing to change', ['products', 'update', PRODUCT], 'error: one of --name, --active is required\n'],
    [
      'scopes without their kind',
      ['tokens', 'create', '--name', 'n', '--kind', 'admin', '--scope', 'license:read'],
      'error: --scope go with --kind scoped\n',
    ],
    ['a life of ten seconds', [...sign, '--ttl', '10s'], 'error: --ttl is less than 1 minute\n'],
    [
      'an unknown format',
      [...create, '--format', 'yaml'],
      "error: --format: 'yaml' is not one of table, tsv, csv, json, jsonl, env\n",
    ],
    [
      'an unknown field',
      [...create, '--fields', 'kee'],
      "error: there is no field 'kee'\n  Fields: key, productId, idempotencyKey, row, status, reference, error, line\n",
    ],
    ['a token in the arguments', ['--token', 'secret', ...create], 'error: --token is not supported'],
    [
      'an unknown topic',
      ['help', 'nonsense'],
      "error: there is no topic 'nonsense'\n  Topics: environment, exit-codes, formatting, idempotency, bulk, ci\n",
    ],
    ['a bad duration', [...create, '--timeout', '5 minutes'], "error: --timeout: '5 minutes' is not a duration"],
    [
      'two confirmations',
      ['customers', 'delete', 'a', 'b', '--confirm', 'a'],
      'error: --confirm a is not the one customer to delete\n',
    ],
    [
      'no time for an answer',
      ['keys', 'list', '--timeout', '0s'],
      "--timeout: '0s' is no time to wait: give 1s or more",
    ],
    ['a product that cannot be', ['forecast', '-P', 'nope'], 'error: --product is shorter than 22 characters'],
    ['an empty file', ['keys', 'create', '-P', PRODUCT, '-f', '/dev/null'], 'error: /dev/null is empty'],
    [
      'the id of a session in place of its file',
      ['keys', 'heartbeat', 'ses_01'],
      'To end it by its id:  lkm sessions release ses_01',
    ],
    [
      'the address of a customer to be deleted',
      ['customers', 'delete', 'it@ada.example'],
      'error: ID is the id of a customer, not an e-mail address\n  Its id:  lkm customers get ADDRESS -q',
    ],
    [
      'one idempotency key for two',
      ['customers', 'delete', 'a', 'b', '-y', '--idempotency-key', 'k'],
      'error: --idempotency-key is that of one change',
    ],
  ];

  it.each(wrong)('ends with 2 for %s, before anything is sent', async (_, argv, says) => {
    const { fetch, seen } = scriptedService();
    const { code, stdout, stderr } = await lkm(argv, { fetch, env: remote });
    expect({ code, stdout, seen }).toEqual({ code: 2, stdout: '', seen: [] });
    expect(stderr).toContain(says);
  });

  it('is explained in JSON where JSON was asked for', async () => {
    const { stderr } = await lkm(['keys', 'creat', '--json']);
    expect(JSON.parse(stderr).error).toMatchObject({ code: 'usage', exitCode: 2, hint: 'See: lkm keys --help' });
  });

  it.each(['LKM_NO_INPUT', 'LKM_QUIET'])('includes a switch in %s that is neither on nor off', async (name) => {
    const { code, stderr } = await lkm(create, { env: { ...remote, [name]: 'maybe' } });
    expect(code).toBe(2);
    expect(stderr).toContain(`error: ${name}: 'maybe' is not one of 1, true`);
  });
});
