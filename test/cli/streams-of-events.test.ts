import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { run } from '../../src/cli/run.ts';
import { eventFields } from '../../src/contract/events.ts';
import { mintWebhookSecret } from '../../src/domain/webhooks/signature.ts';
import { verifyTimestampedWebhook } from '../../src/webhooks.ts';
import { startReceiver } from '../support/receiver.ts';
import { fakeIo, lkm, NOW, tempFolder } from './fake-io.ts';
import { against, refusal, remote, type Scripted, scriptedService } from './scripted-service.ts';

/** A folder with a database in which two customers were created. */
async function shop(): Promise<string> {
  const cwd = tempFolder();
  for (const name of ['Ada', 'Zoë']) {
    await lkm(['customers', 'create', '--name', name, '--create', '--db', 'lkm.db'], { cwd });
  }
  return cwd;
}

/** Runs a command on the first events of the database, and stops it once stdout is as expected. */
async function follow(
  argv: readonly string[],
  stdout: unknown,
  { env = {}, terminal = false }: { readonly env?: Record<string, string>; readonly terminal?: boolean } = {},
): Promise<string> {
  const stop = new AbortController();
  const { io, printed } = fakeIo({ cwd: await shop(), stop: stop.signal, env: { LKM_DB: 'lkm.db', ...env }, terminal });
  const ended = run([...argv, '--after', '0'], io);
  await expect.poll(() => printed.stdout, { timeout: 5_000 }).toEqual(stdout);
  stop.abort('SIGINT');
  expect(await ended).toBe(0);
  expect(printed.stdout).toEqual(stdout);
  return printed.stderr;
}

/** What a terminal shows of the two customers; `more` stands between what happened and to what. */
const lines = (more: string) =>
  expect.stringMatching(
    new RegExp(String.raw`^2026-11-21 UTC\n(12:00:00 {2}\S*customer\.created\S* {7}${more}(Ada|Zoë).*\n){2}$`),
  );

const tabs = expect.stringMatching(/^(\d\t2026.*\tcustomer.created\t.*\n){2}$/);
const ids = expect.stringMatching(/^(evt_\w{26}\n){2}$/);

describe('lkm events tail', () => {
  it.each([
    [['--fields', 'seq,type'], '1\tcustomer.created\n2\tcustomer.created\n'],
    [['--fields', 'seq,type', '--format', 'table'], '1\tcustomer.created\n2\tcustomer.created\n'],
    [['--format', 'table'], tabs],
    [['--fields', 'seq,type', '--format', 'csv'], 'seq,type\n1,customer.created\n2,customer.created\n'],
    [['--fields', 'seq', '--format', 'csv', '--type', 'product.created'], 'seq\n'],
    [['--fields', 'seq', '--json'], '{"seq":1}\n{"seq":2}\n'],
    [['--jq', '.type'], 'customer.created\ncustomer.created\n'],
    [['-q'], ids],
    [['-q', '--format', 'csv'], ids],
  ])('prints a line for each event with %j', async (options, stdout) => {
    expect(await follow(['events', 'tail', ...options], stdout)).toBe('');
  });

  it('shows events in columns on a terminal, unless something else is chosen', async () => {
    const tail = ['events', 'tail', '--no-color'];
    expect(await follow(tail, lines(''), { terminal: true })).toBe('events after 0 · ctrl-c ends it\n');
    await follow([...tail, '--fields', 'seq,type'], '1\tcustomer.created\n2\tcustomer.created\n', { terminal: true });
    await follow([...tail, '--format', 'tsv'], tabs, { terminal: true });
    await follow([...tail, '-q'], ids, { terminal: true });
  });
});

describe('lkm events tail --debug', () => {
  it('shows each request for events and how it was answered, without the token', async () => {
    const last: Scripted = [200, { message: 'Ok', code: 0, data: [], meta: { last: 42 } }];
    const { stderr } = await against(
      ['events', 'tail', '--after', '0', '--debug'],
      [last, refusal(401, 1, 'Invalid access token')],
    );
    expect(stderr).toMatch(/^> GET https:\/\/.*\/event\/list\?after=0&limit=1000$/m);
    expect(stderr).toContain('> authorization: [redacted]\n');
    expect(stderr).toContain('< 401\n');
    expect(stderr).toMatch(/^GET \/event\/list {2}401 {2}\d+ ms {2}attempt 1$/m);
    expect(stderr).not.toContain(remote.LKM_TOKEN);
  });
});

describe('lkm events tail while the service is away', () => {
  it('says that, and when it is back, and goes on after the last event', async () => {
    const part = (last: number, data: readonly object[]): Scripted => [200, { data, meta: { last }, code: 0 }];
    const event = {
      ...{ id: 'evt_1', seq: 43, type: 'ping', api_version: '2026-11-21', created_at: '2026-11-21T12:00:00.000Z' },
      ...{ resource_type: 'webhook', resource_id: 'w', actor: { type: 'job', id: 'j' }, data: {} },
      ...{ request_id: null, address: null },
    };
    const { stdout, stderr, seen } = await against('events tail --fields seq', [
      ...[part(42, []), refusal(503, 1, 'Unavailable'), refusal(503, 1, 'Unavailable'), part(43, [event])],
      refusal(401, 1, 'Invalid access token'),
    ]);
    expect(stdout).toBe('43\n');
    const told = /^warning: the service is away, trying again: Unavailable\nthe service is back\nerror: /;
    expect(stderr).toMatch(told);
    expect(seen.slice(1).map(({ path }) => path)).toEqual(
      [42, 42, 42, 43].map((after) => `/event/list?after=${after}&limit=1000`),
    );
  });
});

describe('lkm webhooks listen', () => {
  it.each([
    [['--fields', 'seq,status'], '1\t204\n2\t204\n'],
    [['--fields', 'seq,status', '--format', 'csv'], 'seq,status\n1,204\n2,204\n'],
    [['-q'], ids],
  ])('prints a line for each event that it forwarded, with %j', async (options, stdout) => {
    await using receiver = await startReceiver();
    await follow(['webhooks', 'listen', '--forward-to', receiver.url, ...options], stdout);
    expect(receiver.seqs).toEqual([1, 2]);
  });

  it('signs in the forms, and in the header, that are asked for', async () => {
    await using receiver = await startReceiver();
    const secret = mintWebhookSecret(new Uint8Array(32));
    const signing = ['--signature', 'timestamped', '--webhook-signature-header', 'X-Shop-Signature'];
    await follow(['webhooks', 'listen', '--forward-to', receiver.url, '-q', ...signing], ids, {
      env: { LKM_WEBHOOK_SECRET: secret },
    });
    expect(receiver.received).toHaveLength(2);
    for (const { headers, text } of receiver.received) {
      const options = { header: 'X-Shop-Signature', now: new Date(NOW) };
      expect(verifyTimestampedWebhook(headers, text, secret, options)).toMatchObject({ type: 'customer.created' });
      expect(headers).not.toHaveProperty('webhook-signature');
      // As the service sends it: without the address and the names of lists.
      expect(Object.keys(JSON.parse(text)).toSorted()).toEqual([...Object.keys(eventFields), 'data'].toSorted());
    }
  });

  it('shows on a terminal how each event was taken', async () => {
    await using receiver = await startReceiver();
    const listen = ['webhooks', 'listen', '--no-color', '--forward-to', receiver.url];
    await follow(listen, lines('204 0 ms {6}'), { terminal: true });
  });
});

describe.each([
  ['events tail', []],
  ['webhooks listen', ['--forward-to', 'localhost:9']],
])('lkm %s', (path, words) => {
  it.each([[['-o', 'file'], `${path} goes on until it is stopped, and -o writes a file at the end: leave out -o`]])(
    'refuses %j before anything is sent or said',
    async (options, message) => {
      const { fetch, seen } = scriptedService(refusal(401, 1, 'Unauthorized'));
      const cwd = tempFolder();
      const { code, stdout, stderr } = await lkm([...path.split(' '), ...words, ...options], {
        fetch,
        env: remote,
        cwd,
      });
      const files = readdirSync(cwd);
      expect({ code, stdout, error: stderr.split('\n')[0], seen, files }).toEqual({
        ...{ code: 2, stdout: '', seen: [], files: [] },
        error: `error: ${message}`,
      });
    },
  );
});
