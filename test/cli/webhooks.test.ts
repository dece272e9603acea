import { describe, expect, it } from 'vitest';
import type { Prompter } from '../../src/cli/prompts/prompt.ts';
import { verifyWebhook } from '../../src/webhooks.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { lkm, type Surroundings, tempFolder } from './fake-io.ts';

/** A server that sends webhooks to programs on this machine, a receiver, and commands for the server. */
async function shop(schedule: readonly number[] = [0.05, 0.05, 3_600]) {
  const server = await startTestServer({ webhooks: { allowPrivate: true, timeoutMs: 1_000, schedule } });
  const receiver = await startReceiver();
  const cwd = tempFolder();
  const env = { LKM_BASE_URL: server.server.url, LKM_TOKEN: server.adminToken, NO_COLOR: '1' };
  const at = (argv: readonly string[], more: Surroundings = {}) =>
    lkm(argv, { cwd, env, fetch: globalThis.fetch, ...more });
  const json = async (...argv: string[]) => {
    const ran = await at([...argv, '--json']);
    if (ran.code !== 0) throw new Error(`${argv.join(' ')}: ${ran.stderr}`);
    return JSON.parse(ran.stdout);
  };
  return { server, receiver, at, json, [Symbol.asyncDispose]: () => close(server, receiver) };
}

async function close(server: TestServer, receiver: Receiver): Promise<void> {
  await server[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
}

/** A person who confirms, or does not. */
const saying = (answer: boolean): Prompter => ({
  confirm: async () => answer,
  type: async () => '',
  secret: async () => '',
  choose: async () => '',
  search: async () => '',
});

describe('lkm webhooks create', () => {
  it('prints the secret alone, which verifies what is sent', async () => {
    await using world = await shop();
    const { receiver, at, server } = world;
    const { code, stdout, stderr } = await at(['webhooks', 'create', '--url', receiver.url]);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(/^created whk_\w+ · from event \d+ on\nkeep it now: it is not shown again\n$/),
    });
    expect(stdout).toMatch(/^whsec_[A-Za-z0-9+/]+=*\n$/);
    await server.call('POST', '/customer', { name: 'Zoë' });
    await expect
      .poll(() => receiver.received.map(({ event }) => event.type))
      .toEqual(['webhook.created', 'customer.created']);
    for (const { headers, text } of receiver.received) {
      expect(verifyWebhook(headers, text, stdout.trim())).toMatchObject({ id: headers['webhook-id'] });
    }
  });

  it.each([
    [['--url', 'ftp://x.example/'], 2],
    [['--url', 'https://user:secret@x.example/'], 2],
    [['--url', 'https://x.example/', '--type', 'license.eaten'], 2],
    [[], 2],
  ])('refuses %j, and makes nothing', async (options, code) => {
    await using world = await shop();
    const ran = await world.at(['webhooks', 'create', ...options]);
    expect([ran.code, ran.stdout]).toEqual([code, '']);
    expect(ran.stderr).not.toContain('secret@');
    expect(await world.json('webhooks', 'list')).toEqual([]);
  });
});

describe('lkm webhooks list, get and update', () => {
  it('say what an update without --type leaves as it is', async () => {
    const help = async (command: string) => (await lkm(['webhooks', command, '--help'])).stdout.replaceAll(/\s+/g, ' ');
    expect(await help('create')).toContain('such as license.created; all unless given');
    expect(await help('update')).toContain('such as license.created; replaces those set before');
    expect(await help('update')).not.toContain('all unless given');
  });

  it('show what was set, and never a secret', async () => {
    await using world = await shop();
    const { receiver, at, json } = world;
    const types = ['--type', 'license.created', '--type', 'license.expired'];
    const made = await json(
      'webhooks',
      'create',
      '--url',
      receiver.url,
      ...types,
      '--ordered',
      '--description',
      'shop',
    );
    const set = { id: made.id, url: receiver.url, types: ['license.created', 'license.expired'], ordered: true };
    expect(await json('webhooks', 'list')).toEqual([expect.objectContaining(set)]);
    expect(await json('webhooks', 'get', made.id)).toMatchObject({ ...set, description: 'shop', active: true });
    const table = await at(['webhooks', 'list'], { terminal: true, columns: 160 });
    expect(table.stdout).toContain('license.created, license.expired');
    const updated = await json('webhooks', 'update', made.id, '--all-types', '--unordered', '--inactive');
    expect(updated).toMatchObject({ id: made.id, types: null, ordered: false, active: false, description: 'shop' });
    for (const shown of [table.stdout, JSON.stringify(updated), JSON.stringify(await json('webhooks', 'list'))]) {
      expect(shown).not.toContain('whsec_');
    }
  });

  it.each([
    [[], 'is required'],
    [['--active', '--inactive'], '--active and --inactive contradict each other'],
    [['--type', 'ping', '--all-types'], '--type and --all-types contradict each other'],
  ])('update refuses %j', async (options, message) => {
    await using world = await shop();
    const { id } = await world.json('webhooks', 'create', '--url', world.receiver.url);
    const { code, stderr } = await world.at(['webhooks', 'update', id, ...options]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  it('goes on where it stopped, with all of the meantime', async () => {
    await using world = await shop();
    const { receiver, json, server } = world;
    const { id } = await json('webhooks', 'create', '--url', receiver.url);
    await expect.poll(() => receiver.seqs.length).toBe(1);
    await json('webhooks', 'update', id, '--inactive');
    await server.call('POST', '/customer', { name: 'Zoë' });
    await expect.poll(async () => (await json('events', 'list')).length).toBe(4);
    expect(receiver.seqs).toHaveLength(1);
    await json('webhooks', 'update', id, '--active');
    const [first = 0] = receiver.seqs;
    await expect.poll(() => [...receiver.seqs].sort((a, b) => a - b)).toEqual([first, first + 1, first + 2, first + 3]);
  });
});

describe('lkm webhooks delete', () => {
  it('shows the webhook and asks; refuses without a terminal and --yes; and is over then', async () => {
    await using world = await shop();
    const { receiver, at, json } = world;
    const { id } = await json('webhooks', 'create', '--url', receiver.url);
    const unasked = await at(['webhooks', 'delete', id]);
    expect([unasked.code, unasked.stderr]).toEqual([3, expect.stringContaining('--yes')]);
    const refused = await at(['webhooks', 'delete', id], { terminal: true, prompter: saying(false) });
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toContain(receiver.url);
    expect(await json('webhooks', 'list')).toHaveLength(1);
    expect(await at(['webhooks', 'delete', id], { terminal: true, prompter: saying(true) })).toMatchObject({ code: 0 });
    expect(await json('webhooks', 'list')).toEqual([]);
    expect((await at(['webhooks', 'delete', id, '--yes'])).code).toBe(6);
  });
});

describe('lkm webhooks test', () => {
  it('says what the receiver answered', async () => {
    await using world = await shop();
    const { receiver, at, json } = world;
    const { id } = await json('webhooks', 'create', '--url', receiver.url, '--type', 'license.created');
    const good = await at(['webhooks', 'test', id]);
    expect([good.code, good.stderr]).toEqual([0, expect.stringMatching(/^accepted ping \d+ with 204 in \d+ ms\n$/)]);
    expect(receiver.received.at(-1)?.event).toMatchObject({ type: 'ping', resource_id: id });
    receiver.answer(500);
    const bad = await at(['webhooks', 'test', id]);
    expect([bad.code, bad.stderr]).toEqual([
      5,
      expect.stringMatching(/^warning: ping \d+ was not accepted: answered 500\n$/),
    ]);
    const unasked = await at(['webhooks', 'test', id, '--wait', '0s']);
    expect([unasked.code, unasked.stderr]).toEqual([0, `asked ${id} for an answer\n`]);
  });

  it('finds the ping below what was sent after it', async () => {
    await using world = await shop();
    const { receiver, at, json, server } = world;
    const { id } = await json('webhooks', 'create', '--url', receiver.url);
    let looks = 0;
    const fetch = async (request: Request) => {
      if (request.url.includes('/webhook/deliveries') && looks++ === 0) {
        for (let made = 0; made < 45; made++) await server.call('POST', '/customer', { name: 'Zoë' });
        await expect.poll(() => receiver.seqs.length).toBeGreaterThan(46);
        await expect.poll(async () => (await json('webhooks', 'deliveries', id)).length).toBeGreaterThan(46);
      }
      return globalThis.fetch(request);
    };
    expect(await at(['webhooks', 'test', id], { fetch })).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^accepted ping \d+ with 204/),
    });
    expect(looks).toBeGreaterThan(1);
  });
});

describe('lkm webhooks deliveries and replay', () => {
  it('list what failed, and send it once more with the same ids', async () => {
    await using world = await shop([]);
    const { receiver, at, json, server } = world;
    receiver.answer({ status: 500, body: 'out of order' });
    const { id } = await json('webhooks', 'create', '--url', receiver.url);
    await server.call('POST', '/customer', { name: 'Zoë' });
    const dead = () => json('webhooks', 'deliveries', id, '--state', 'dead');
    await expect.poll(async () => (await dead()).length).toBe(2);
    const [last, first] = await dead();
    expect(last).toMatchObject({
      type: 'customer.created',
      status: 500,
      error: 'answered 500',
      answer: 'out of order',
    });
    expect(last.seq).toBe(first.seq + 1);
    const one = await at(['webhooks', 'deliveries', id, '--limit', '1']);
    expect(one.stdout.split('\n')).toHaveLength(2);
    expect(one.stderr).toBe('this is the first one; there are more\n');

    receiver.answer(204);
    expect((await at(['webhooks', 'replay', id, '--failed'])).stderr).toBe('sends 2 events once more\n');
    await expect.poll(() => json('webhooks', 'deliveries', id, '--state', 'delivered')).toHaveLength(2);
    const ids = receiver.received.map(({ headers }) => headers['webhook-id']).sort();
    expect(ids).toEqual([first.eventId, first.eventId, last.eventId, last.eventId].sort());
    expect((await at(['webhooks', 'replay', id, '--failed'])).stderr).toBe('there is nothing to send\n');
    const sent = receiver.seqs.length;
    await at(['webhooks', 'replay', id, '--after', String(first.seq - 1)]);
    await expect.poll(() => receiver.seqs.slice(sent).sort()).toEqual(expect.arrayContaining([first.seq, last.seq]));
  });

  it.each([[[]], [['--after', '1', '--failed']]])('replay is told one thing: %j', async (options) => {
    await using world = await shop();
    const { code, stderr } = await world.at(['webhooks', 'replay', 'whk_x', ...options]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('one of --after and --failed')]);
  });
});

describe('lkm webhooks rotate', () => {
  it('prints a new secret; both sign while they overlap, and the new one alone without', async () => {
    await using world = await shop();
    const { receiver, at, json } = world;
    const { id, secret: old } = await json('webhooks', 'create', '--url', receiver.url);
    const rotated = await at(['webhooks', 'rotate', id, '--overlap', '1h']);
    expect(rotated.stderr).toContain(`rotated ${id} · the old secret signs until `);
    const secret = rotated.stdout.trim();
    expect(secret).not.toBe(old);
    await at(['webhooks', 'test', id]);
    const both = receiver.received.at(-1);
    for (const one of [old, secret]) verifyWebhook(both?.headers ?? {}, both?.text ?? '', one);

    const last = await at(['webhooks', 'rotate', id, '--overlap', '0s']);
    expect(last.stderr).toContain('the old secret no longer signs');
    await at(['webhooks', 'test', id]);
    const alone = receiver.received.at(-1);
    verifyWebhook(alone?.headers ?? {}, alone?.text ?? '', last.stdout.trim());
    for (const one of [old, secret]) {
      expect(() => verifyWebhook(alone?.headers ?? {}, alone?.text ?? '', one)).toThrow();
    }
  });
});

describe('lkm events diff', () => {
  it('lists what a program has missed, and how to have it sent', async () => {
    await using world = await shop();
    const { at, json, server } = world;
    for (const name of ['a', 'b', 'c']) await server.call('POST', '/customer', { name });
    await expect.poll(async () => (await json('events', 'list')).length).toBe(4);
    const missed = await at(['events', 'diff', '--last', '2', '--fields', 'seq,type']);
    expect(missed).toEqual({
      code: 0,
      stdout: '3\tcustomer.created\n4\tcustomer.created\n',
      stderr: 'send them once more: lkm webhooks replay ID --after 2\n',
    });
    expect(await at(['events', 'diff', '--last', '4'])).toEqual({
      code: 0,
      stdout: '',
      stderr: 'nothing is missing: 4 is the last event\n',
    });
    const part = await at(['events', 'diff', '--last', '0', '--limit', '2', '--fields', 'seq']);
    expect(part.stdout).toBe('1\n2\n');
    expect(part.stderr).toContain('these are the first 2; there are more: --last 2');
    const ahead = await at(['events', 'diff', '--last', '9']);
    expect([ahead.code, ahead.stderr]).toEqual([2, expect.stringContaining('there is no event 9: the last one is 4')]);
    const typed = await json('events', 'diff', '--last', '0', '--type', 'token.created');
    expect(typed.map(({ seq }: { readonly seq: number }) => seq)).toEqual([1]);
  });
});
