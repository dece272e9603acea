import { describe, expect, it } from 'vitest';
import { lkm } from './fake-io.ts';
import { against, brokenBy, KEY, PRODUCT, refusal, remote, type Scripted } from './scripted-service.ts';

const create = `keys create -P ${PRODUCT}`;
const get = `keys get ${KEY} -P ${PRODUCT}`;
const sign = `keys sign ${KEY} -P ${PRODUCT} --host-id h1`;
const deactivate = `keys deactivate ${KEY} -P ${PRODUCT} --host-id h1`;
const newCustomer = 'customers create --name Ada --email it@ada.example';
const reset = brokenBy('ECONNRESET');

/** What a service that is ours says with a status and a code, in words that nobody reads. */
const error = (status: number, code: number) => refusal(status, code, 'a message');

const rows: [when: string, line: string, answer: Scripted, exitCode: number, code: string][] = [
  ['400 to a change', create, error(400, 1), 2, 'invalid_params'],
  ['401', get, error(401, 1), 4, 'invalid_token'],
  ['403, scope missing', create, error(403, 1), 5, 'scope_missing'],
  ['403, not activated', deactivate, error(403, 2), 5, 'not_activated'],
  ['403, no slot', sign, error(403, 3), 5, 'activation_limit'],
  ['404, product', create, refusal(404, 1, 'Product not found or inactive'), 6, 'product_unavailable'],
  ['404, device', deactivate, refusal(404, 1, 'Device not found'), 6, 'device_not_found'],
  ['409, e-mail', newCustomer, error(409, 2), 7, 'email_taken'],
  ['409, the last admin token', 'tokens revoke tok_1 --yes', error(409, 11), 7, 'last_admin_token'],
  ['400 to a question', get, error(400, 1), 2, 'invalid_params'],
  ['a change answered by another service', create, [200, 'a page'], 10, 'bad_response'],
  ['a base URL with a wrong path', 'customers get cus_1', refusal(404, 1, 'Not found'), 10, 'bad_response'],
  ['a key that is asked for at a wrong path', get, refusal(404, 1, 'Not found'), 10, 'bad_response'],
  ['404 of another service', 'customers get cus_1', refusal(404, 404, 'Cannot GET /customer'), 10, 'bad_response'],
  ['421', create, refusal(421, 1, "Host 'lic.example' is not a name of this server"), 10, 'misdirected'],
  ['a question answered by a page', get, [200, 'a page'], 10, 'bad_response'],
];

const retryable: typeof rows = [
  ['409, a response that was not stored', create, error(409, 4), 8, 'stored_response_missing'],
  ['409, in progress', `${create} --max-wait 0s`, error(409, 3), 8, 'outcome_unknown'],
  ['500 to a change', create, error(500, 1), 8, 'outcome_unknown'],
  ['a lost answer to a change', create, reset, 8, 'outcome_unknown'],
  ['a change answered in a wrong shape', create, [200, { code: 0 }], 8, 'outcome_unknown'],
  ['429', get, error(429, 3), 9, 'rate_limited'],
  ['500 to a question', get, error(500, 1), 10, 'server_error'],
  ['503', create, error(503, 1), 10, 'unavailable'],
  ['a question answered in a wrong shape', get, [200, { code: 0 }], 10, 'bad_response'],
  ['nobody there', create, brokenBy('ECONNREFUSED', 'connect'), 11, 'network'],
  ['a lost answer to a question', get, reset, 11, 'network'],
];

describe('a command that fails', () => {
  it.each([...rows.map((row) => [...row, false] as const), ...retryable.map((row) => [...row, true] as const)])(
    'on %s: %s',
    async (_, line, answer, exitCode, code, isRetryable) => {
      const ran = await against(`${line} --max-retries 0 --json`, [answer]);
      const { error } = JSON.parse(ran.stderr);
      expect({ exit: ran.code, stdout: ran.stdout, ...error }).toMatchObject({
        ...{ exit: exitCode, stdout: '' },
        ...{ exitCode, code, retryable: isRetryable },
      });
    },
  );

  it('says in JSON all that is known, on one line of stderr', async () => {
    const { stderr } = await against(`${create} --json`, [refusal(404, 1, 'Product not found or inactive')]);
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
          'Resume one: lkm products update prod_01jx0000000000000000000000 --active',
        ].join('\n'),
      },
    });
  });

  it.each([
    ['with what was typed on a terminal', true, 'it@ada.example'],
    ['without the address of a person in the log of a job', false, 'EMAIL'],
  ])('says to people what happened and what to do next, %s', async (_, stderrTTY, address) => {
    const terminal = { stderr: stderrTTY };
    const { stderr } = await against(newCustomer, [error(409, 2)], { terminal, env: { NO_COLOR: '1' } });
    expect(stderr).toBe(
      [
        'error: a customer with this e-mail address already exists',
        '  POST /customer answered 409 (code 2). Nothing was changed.',
        `  Find it:  lkm customers list --email ${address}`,
        `  Use it:   lkm keys create -P PRODUCT --customer ${address}`,
        '',
      ].join('\n'),
    );
  });

  it('says of a key that was used before what may have changed the request', async () => {
    const ran = await against(`${create} --idempotency-key order-1 --expires 12h`, [error(400, 3)]);
    expect(ran.code).toBe(2);
    expect(ran.stderr).toContain('error: this idempotency key was used for a different request\n');
    expect(ran.stderr).toContain('A time such as --expires 12h counts from now, so it differs each time');
  });

  it('says where the refused token came from, and never the token; its stack only with --debug', async () => {
    const { stderr } = await against(`${get} --debug`, [error(401, 1)]);
    expect(stderr).toContain('error: the service refused the token from LKM_TOKEN\n');
    expect(stderr).not.toContain(remote.LKM_TOKEN);
    expect(stderr).toContain('    at ');
    expect((await against(get, [error(401, 1)])).stderr).not.toContain('    at ');
  });

  it('shows what was sent and received with --debug, and neither token nor key', async () => {
    const { stderr } = await against(`${get} --debug`, [error(404, 1)]);
    expect(stderr).toMatch(/^> GET https:\/\/.*\/key\?productId=prod_\w+&licenseKey=…$/m);
    expect(stderr).toContain('> authorization: [redacted]\n');
    expect(stderr).toContain('< 404\n');
    expect(stderr).toContain('<   "message": "a message",\n');
    expect((await against(`${get} -v`, [error(404, 1)])).stderr).not.toContain('< 404');
  });

  it.each(['-v', '--debug'])('shows an idempotency key with %s no more than a token', async (flag) => {
    const { stderr } = await against(`${create} --idempotency-key order-1001 ${flag}`, [error(404, 1)]);
    expect(stderr).toContain('POST');
    if (flag === '--debug') expect(stderr).toContain('> idempotency-key: [redacted]\n');
    expect(stderr).not.toContain('order-1001');
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
    const { stderr } = await against(`${get} --debug`, [[404, body]]);
    expect(stderr).toContain('< 404\n');
    const sent = stderr.slice(stderr.indexOf('< 404'), stderr.indexOf('< }'));
    expect(Object.values(secrets).filter((one) => sent.includes(one))).toEqual([]);
  });

  it('shows no half of a key with --debug where a long response is cut', async () => {
    // The text before the key is so long that the end of what is shown would fall into it.
    for (let before = 3_960; before < 3_990; before += 5) {
      const message = `${'x '.repeat(before / 2)}ABCDE-FGHJK-MNPQR-STVWX-Y0123`;
      const { stderr } = await against(`${get} --debug`, [refusal(404, 1, message)]);
      const shown = stderr.slice(stderr.indexOf('< 404'), stderr.indexOf('more characters'));
      expect(shown).toContain('x x x');
      expect(shown, `after ${before} characters`).not.toContain('ABCDE-');
    }
  });
});

describe('a command line that is wrong', () => {
  it.each<[line: string, says: string]>([
    ['keys creat', "unknown command 'creat'. Did you mean create?\n"],
    ['keys list key', 'list takes no further words: see lkm keys list --help'],
    ['keys renew K --for 1y', 'KEY is shorter than 6 characters\n'],
    [`${create} --max-activation 3`, 'Did you mean --max-activations?\n'],
    ['keys create', '--product is required\n  Give it:  -P, --product ID\n  Or set:   export LKM_PRODUCT=…\n'],
    ['tokens create', '--name and --kind are required\n  Give it:  --name NAME\n  Give it:  --kind KIND\n'],
    [`keys sign ${KEY}`, '--host-id is required\n  Give it:  --host-id ID\n'],
    [`keys sign ${KEY} -P ${PRODUCT} --host-id ${'h'.repeat(65)}`, '--host-id is longer than 64 characters\n'],
    ['customers create --name ', '--name is empty: the variable it comes from is not set\n'],
    [`keys get AAAAA-AAAAA-AAAAA-AAAAA-AAAAB -P ${PRODUCT}`, 'the key has a typo'],
    [
      `${create} --max-activations 0`,
      "--max-activations: '0' is neither a whole number from 1 to 999999999 nor 'unlimited'\n",
    ],
    ['customers list --limit 0', "--limit: '0' is not a whole number from 1 to 999999999"],
    ['serve --rate-limit 1000000000', "'1000000000' is neither a whole number from 1 to 999999999 nor 'off'"],
    [`${create} --expires 2020-01-01`, "--expires: '2020-01-01' is in the past\n"],
    [`${create} --expires 2027-02-31`, "--expires: '2027-02-31' is not a date"],
    [`${create} --expires 300000y`, "--expires: '300000y' expires after the year 9999"],
    [`${create} --timeout 999999999y`, "--timeout: '999999999y' is longer than 8000 years"],
    [`${create} --timeout 5m1`, "--timeout: '5m1' is not a duration"],
    ['keys list --timeout 0s', "--timeout: '0s' is no time to wait: give 1s or more"],
    [`${create} --type nodelocked`, "--type: 'nodelocked' is not one of node-locked, floating\n"],
    [`${create} --customer cus_1 --new-customer-name n`, '--customer and --new-customer-name cannot be combined'],
    [`${create} --new-customer-email a@b.example`, '--new-customer-name is missing\n'],
    ['customers create --name n --email ada', '--email is not an e-mail address\n'],
    [`keys deactivate ${KEY} -P ${PRODUCT}`, 'choose: --host-id ID frees one device, --all-devices frees all\n'],
    [`products update ${PRODUCT}`, 'name what to change, such as --name "Engine Pro 2"\n'],
    [
      'tokens create --name n --kind admin --scope license:read',
      '--scope: needed for --kind scoped, and only for it\n',
    ],
    [`${sign} --ttl 10s`, '--ttl is less than 1 minute\n'],
    [`${create} --format yaml`, "--format: 'yaml' is not one of table, tsv, csv, json, jsonl\n"],
    [`${create} --fields kee`, "there is no field 'kee'\n  Fields: key, productId, idempotencyKey, row, status"],
    [`--token secret ${create}`, '--token is not supported'],
    ['help nonsense', "there is no topic 'nonsense'\n  Topics: environment, exit-codes, formatting, idempotency"],
    ['customers delete cus_a cus_b --confirm cus_a', '--confirm cus_a is not the one customer to delete\n'],
    [`${create} -f /dev/null`, '/dev/null is empty'],
    ['keys heartbeat ses_01', 'To end it by its id:  lkm sessions release ses_01'],
    ['customers delete cus_a cus_b -y --idempotency-key k', '--idempotency-key is for one change'],
    ['keys sign KEY 00000-00000-00000-00000-00000', "too many arguments for 'sign'. Expected 1 argument but got 2"],
  ])('ends with 2, before anything is sent: %s', async (line, says) => {
    const { code, stdout, stderr, seen } = await against(line, []);
    expect({ code, stdout, seen }).toEqual({ code: 2, stdout: '', seen: [] });
    expect(stderr).toMatch(/^error: /);
    expect(stderr).toContain(says);
    expect(stderr).not.toContain('00000-00000');
  });

  it('is explained in JSON where JSON was asked for', async () => {
    const { stderr } = await against('keys creat --json', []);
    expect(JSON.parse(stderr).error).toMatchObject({ code: 'usage', exitCode: 2, hint: 'See: lkm keys --help' });
  });

  it.each(['LKM_NO_INPUT', 'LKM_QUIET'])('includes a switch in %s that is neither on nor off', async (name) => {
    const { code, stderr } = await against(create, [], { env: { [name]: 'maybe' } });
    expect(code).toBe(2);
    expect(stderr).toContain(`error: ${name}: 'maybe' is not one of 1, true`);
  });
});

it('ends with 8 where a retry reached the service without its idempotency key, and says to look first', async () => {
  let requests = 0;
  const fetch = async () => {
    requests += 1;
    if (requests === 1) throw brokenBy('ECONNRESET');
    return Response.json({ code: 0, key: KEY }, { headers: { 'LKM-Idempotency-Key': 'none' } });
  };
  const { code, stdout, stderr } = await lkm(['keys', 'create', '-P', PRODUCT], { fetch, env: remote });
  expect([code, stdout]).toEqual([8, '']);
  expect(stderr).toMatch(/^warning: something between here and the service drops the header Idempotency-Key/);
  expect(stderr).toContain('\nerror: the idempotency key did not reach the service; the key may have been created\n');
  expect(stderr).toContain('\n    lkm events list --last 20\n');
  expect(stderr).not.toContain('Run the same command again');
});
