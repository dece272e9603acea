import { describe, expect, it } from 'vitest';
import { lkm } from './fake-io.ts';
import { against, issued, KEY, PRODUCT, refusal } from './scripted-service.ts';

const create = `keys create -P ${PRODUCT}`;
const made = '00000001-0000-4000-8000-000000000000';
const unavailable = refusal(503, 1, 'Service unavailable');
const serverError = refusal(500, 1, 'Server error');

describe('a change', () => {
  it('goes out under one key, whatever it takes to get an answer', async () => {
    const { code, seen } = await against(create, [unavailable, unavailable, issued]);
    expect(code).toBe(0);
    expect(seen.map(({ idempotencyKey }) => idempotencyKey)).toEqual([made, made, made]);
    expect(new Set(seen.map(({ body }) => JSON.stringify(body))).size).toBe(1);
  });

  it('names the key and the command that repeats it when its outcome is unknown', async () => {
    const argv = [...create.split(' '), '--new-customer-name', "Ada's", '--max-retries', '0'];
    const { code, stderr } = await against(argv, [serverError]);
    expect(code).toBe(8);
    expect(stderr).toBe(
      [
        'error: server error; the key may have been created',
        '  POST /create-key answered 500 (code 1).',
        '  Run the same command again with the same key; the service then returns its first answer:',
        `    lkm keys create -P ${PRODUCT} --new-customer-name 'Ada'\\''s' --max-retries 0 --idempotency-key ${made}`,
        '',
      ].join('\n'),
    );
  });

  it('goes out under the key that is given, which is in the command that repeats it', async () => {
    const argv = [...create.split(' '), '--idempotency-key=old', '--idempotency-key', 'k 1', '--max-retries', '0'];
    const { stderr, seen } = await against(argv, [serverError]);
    expect(seen[0]?.idempotencyKey).toBe('k 1');
    expect(stderr).toContain(`    lkm keys create -P ${PRODUCT} --max-retries 0 --idempotency-key 'k 1'\n`);
  });

  it('shows a licence key in that command on a terminal only, since logs are read by others', async () => {
    const line = `keys deactivate ${KEY} -P ${PRODUCT} --host-id h1 --max-retries 0`;
    expect((await against(line, [serverError], { terminal: true })).stderr).toContain(`lkm keys deactivate ${KEY} `);
    const { stderr } = await against(line, [serverError]);
    expect(stderr).toContain('lkm keys deactivate KEY -P');
    expect(stderr).not.toContain(KEY);
  });

  it('says what was under way when it is interrupted', async () => {
    const controller = new AbortController();
    const fetch = async (request: Request): Promise<Response> => {
      controller.abort('SIGINT');
      request.signal.throwIfAborted();
      return new Response();
    };
    const { code, stdout, stderr } = await against(create, [], { fetch, stop: controller.signal });
    expect({ code, stdout }).toEqual({ code: 130, stdout: '' });
    expect(stderr).toContain('error: interrupted\n  The change may have been made.');
    expect(stderr).toContain(`--idempotency-key ${made}\n`);
  });

  it('ends with 143 when the process is told to end', async () => {
    const ran = await against(create, [issued], { stop: AbortSignal.abort('SIGTERM') });
    expect(ran).toMatchObject({ code: 143, seen: [] });
  });
});

describe('a dry run', () => {
  it('shows the request without its secrets and sends nothing', async () => {
    const { code, stdout, seen } = await against(`keys deactivate ${KEY} -P ${PRODUCT} --all-devices -n --json`, []);
    expect({ code, seen }).toEqual({ code: 0, seen: [] });
    expect(JSON.parse(stdout)).toEqual({
      dryRun: true,
      request: {
        method: 'POST',
        url: 'https://licensing.example.com/deactivate-key',
        headers: { authorization: 'Bearer [redacted]', 'content-type': 'application/json', 'idempotency-key': made },
        body: { productId: PRODUCT, licenseKey: '[redacted]' },
      },
    });
  });

  it('makes no database', async () => {
    const { code, stdout, stderr } = await lkm([...create.split(' '), '-n', '--db', '/nowhere/at/all.db']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: 'nothing was sent\n' });
    expect(stdout).toContain('POST http://127.0.0.1/create-key\nauthorization: Bearer [redacted]\n');
  });
});
