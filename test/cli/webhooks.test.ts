import { describe, expect, it } from 'vitest';
import { run } from '../../src/cli/run.ts';
import type { ServeOptions } from '../../src/server/index.ts';
import { verifyTimestampedWebhook, verifyWebhook } from '../../src/webhooks.ts';
import { startReceiver } from '../support/receiver.ts';
import { startTestServer } from '../support/server.ts';
import { fakeIo, lkm, NOW, type Surroundings, says, tempFolder } from './fake-io.ts';
import { saying } from './shop.ts';

/** A server that sends webhooks to programs on this machine, a receiver, and commands for the server. */
async function shop(schedule: readonly number[] = [0.05, 0.05, 3_600], more: ServeOptions['webhooks'] = {}) {
  const server = await startTestServer({ webhooks: { allowPrivate: true, timeoutMs: 1_000, schedule, ...more } });
  const receiver = await startReceiver();
  const cwd = tempFolder();
  const env = { LKM_BASE_URL: server.server.url, LKM_TOKEN: server.adminToken, NO_COLOR: '1' };
  const at = (line: string, more: Surroundings = {}) =>
    lkm(line.split(' '), { cwd, env, fetch: globalThis.fetch, ...more });
  const json = async (line: string) => {
    const { code, stdout, stderr } = await at(`${line} --json`);
    if (code !== 0) throw new Error(`${line}: ${stderr}`);
    return JSON.parse(stdout);
  };
  /** A webhook to the receiver. */
  const create = (options = '') => json(`webhooks create --url ${receiver.url} ${options}`.trim());
  const addCustomer = () => server.call('POST', '/customer', { name: 'Zoë' });
  const close = async () => {
    await server[Symbol.asyncDispose]();
    await receiver[Symbol.asyncDispose]();
  };
  return { receiver, at, cwd, env, json, create, addCustomer, [Symbol.asyncDispose]: close };
}

describe('lkm webhooks create', () => {
  it('prints the secret alone, which verifies what is sent', async () => {
    await using world = await shop();
    const { receiver, at, addCustomer } = world;
    const { code, stdout, stderr } = await at(`webhooks create --url ${receiver.url}`);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^created whk_\w+ · from event \d+ on\nkeep it now: it is not shown again\n$/);
    expect(stdout).toMatch(/^whsec_[A-Za-z0-9+/]+=*\n$/);
    await addCustomer();
    await expect
      .poll(() => receiver.received.map(({ event }) => event.type))
      .toEqual(['webhook.created', 'customer.created']);
    for (const { headers, text } of receiver.received) {
      expect(verifyWebhook(headers, text, stdout.trim())).toMatchObject({ id: headers['webhook-id'] });
    }
  });

  it('makes nothing of what it refuses, and updates and replays nothing either', async () => {
    await using world = await shop();
    const { id } = await world.create();
    for (const [line, message] of [
      ['create --url ftp://x.example/', 'webhook URL refused'],
      ['create --url https://user:secret@x.example/', 'webhook URL refused'],
      ['create --url https://x.example/ --type license.eaten', 'license.eaten'],
      ['create --url https://x.example/ --signature v1', "'v1' is not one of standard, timestamped"],
      ['create --url https://x.example/ --signature standard,standard', 'a value is repeated'],
      ['create', '--url is required'],
      [`update ${id}`, 'name what to change, such as --inactive'],
      [`update ${id} --active --inactive`, '--active and --inactive contradict each other'],
      [`update ${id} --type ping --all-types`, '--type and --all-types contradict each other'],
      [`update ${id} --inactive --from now`, '--from needs --active'],
      [`update ${id} --active --from then`, "'then' is not a whole number"],
      [`replay ${id}`, '--after is required'],
    ]) {
      const { code, stdout, stderr } = await world.at(`webhooks ${line}`);
      expect({ line, code, stdout, stderr }).toMatchObject({ code: 2, stdout: '', stderr: says(message ?? '') });
      expect(stderr).not.toContain('secret@');
    }
    expect(await world.json('webhooks list')).toHaveLength(1);
  });
});

describe('lkm webhooks list, get and update', () => {
  it('show what was set, and never a secret', async () => {
    await using world = await shop();
    const { receiver, at, json, create } = world;
    const made = await create('--type license.created --type license.expired --ordered --description shop');
    const set = { id: made.id, url: receiver.url, types: ['license.created', 'license.expired'], ordered: true };
    expect(await json('webhooks list')).toEqual([expect.objectContaining(set)]);
    expect(await json(`webhooks get ${made.id}`)).toMatchObject({ ...set, description: 'shop', active: true });
    const table = await at('webhooks list', { terminal: true, columns: 160 });
    expect(table.stdout).toContain('license.created, license.expired');
    const updated = await json(`webhooks update ${made.id} --all-types --unordered --inactive`);
    expect(updated).toMatchObject({ id: made.id, types: null, ordered: false, active: false, description: 'shop' });
    for (const shown of [table.stdout, JSON.stringify(updated), JSON.stringify(await json('webhooks list'))]) {
      expect(shown).not.toContain('whsec_');
    }
  });

  it('sign in the forms that are set, in the header that the operator names', async () => {
    const header = 'X-Shop-Signature';
    await using world = await shop(undefined, { signatureHeader: header });
    const { receiver, at, json, create } = world;
    const both = await create('--signature standard --signature timestamped');
    expect(both.signatures).toEqual(['standard', 'timestamped']);
    const sent = async () => {
      await at(`webhooks test ${both.id}`);
      return receiver.received.at(-1) ?? { headers: {}, text: '' };
    };
    const first = await sent();
    expect(first.headers).not.toHaveProperty('lkm-signature');
    expect(verifyWebhook(first.headers, first.text, both.secret)).toMatchObject({ type: 'ping' });
    expect(verifyTimestampedWebhook(first.headers, first.text, both.secret, { header })).toMatchObject({
      type: 'ping',
    });
    const updated = await json(`webhooks update ${both.id} --signature timestamped`);
    expect(updated.signatures).toEqual(['timestamped']);
    expect(await json(`webhooks get ${both.id}`)).toMatchObject({ signatures: ['timestamped'] });
    const second = await sent();
    expect(second.headers).not.toHaveProperty('webhook-signature');
    expect(verifyTimestampedWebhook(second.headers, second.text, both.secret, { header })).toMatchObject({
      type: 'ping',
    });
  });

  it('goes on where it stopped, with all of the meantime', async () => {
    await using world = await shop();
    const { receiver, json, create, addCustomer } = world;
    const { id } = await create();
    await expect.poll(() => receiver.seqs.length).toBe(1);
    await json(`webhooks update ${id} --inactive`);
    await addCustomer();
    await expect.poll(async () => (await json('events list')).length).toBe(4);
    expect(receiver.seqs).toHaveLength(1);
    await json(`webhooks update ${id} --active`);
    const [first = 0] = receiver.seqs;
    await expect.poll(() => [...receiver.seqs].sort((a, b) => a - b)).toEqual([first, first + 1, first + 2, first + 3]);
  });
});

describe('lkm webhooks delete', () => {
  it('shows the webhook and asks; refuses without a terminal and --yes; and is over then', async () => {
    await using world = await shop();
    const { receiver, at, json, create } = world;
    const { id } = await create();
    expect(await at(`webhooks delete ${id}`)).toMatchObject({ code: 3, stderr: says('--yes') });
    const refused = await at(`webhooks delete ${id}`, { terminal: true, prompter: saying(false) });
    expect(refused).toMatchObject({ code: 3, stderr: says(receiver.url) });
    expect(await json('webhooks list')).toHaveLength(1);
    expect((await at(`webhooks delete ${id}`, { terminal: true, prompter: saying(true) })).code).toBe(0);
    expect((await at(`webhooks delete ${id} --yes`)).code).toBe(6);
  });
});

describe('lkm webhooks test', () => {
  it('says what the receiver answered', async () => {
    await using world = await shop();
    const { receiver, at, create } = world;
    const { id } = await create('--type license.created');
    const test = (options = '') => at(`webhooks test ${id}${options}`);
    const good = { code: 0, stderr: expect.stringMatching(/^accepted ping \d+ with 204 in \d+ ms\n$/) };
    expect(await test()).toMatchObject(good);
    expect(receiver.received.at(-1)?.event).toMatchObject({ type: 'ping', resource_id: id });
    receiver.answer(500);
    const bad = { code: 5, stderr: expect.stringMatching(/^warning: ping \d+ was not accepted: answered 500\n$/) };
    expect(await test()).toMatchObject(bad);
    expect(await test(' --wait 0s')).toMatchObject({ code: 0, stderr: `asked ${id} for an answer\n` });
  });

  it('fails when nothing came back in time, and says what is in front', async () => {
    await using world = await shop([3_600], { timeoutMs: 20_000 });
    const { receiver, at, json, create, addCustomer, cwd, env } = world;
    const { id } = await create('--type customer.created --ordered');
    const test = async () => {
      const { io, printed } = fakeIo({ cwd, env, fetch: globalThis.fetch });
      let looks = 0;
      // Time passes with each look at it.
      const now = () => NOW + 250 * looks++;
      const code = await run(['webhooks', 'test', id, '--wait', '1s'], { ...io, now });
      return `${code} ${printed.stderr}`;
    };
    const goOn = `lkm webhooks update ${id} --active goes on at once`;
    receiver.answer({ status: 429, headers: { 'retry-after': '86400' } });
    await addCustomer();
    await expect.poll(async () => (await json(`webhooks get ${id}`)).pausedUntil).not.toBeNull();
    expect(await test()).toMatch(
      new RegExp(`^5 .*no outcome within 1 s: its receiver wants nothing before .* UTC; ${goOn}`, 's'),
    );
    receiver.answer(500);
    await at(`webhooks update ${id} --active`);
    await expect.poll(async () => (await json(`webhooks get ${id}`)).lastError).toBe('answered 500');
    expect(await test()).toContain(`waits in front of it, the last attempt failed: answered 500; ${goOn}`);
    receiver.answer(() => {});
    await at(`webhooks update ${id} --active --from now`);
    expect(await test()).toContain('no outcome within 1 s: the receiver has not answered yet');
  });

  it('warns of another webhook with the same URL', async () => {
    await using world = await shop();
    const { receiver, at, json, create } = world;
    const { id } = await create();
    const { stderr } = await at(`webhooks create --url ${receiver.url}`);
    expect(stderr).toContain(`warning: ${id} sends to the same URL\n`);
    const [, other] = await json('webhooks list');
    expect((await at(`webhooks update ${other.id} --url ${receiver.url}/other`)).stderr).not.toContain('same URL');
    expect((await at(`webhooks update ${other.id} --url ${receiver.url}`)).stderr).toContain(`${id} sends to the same`);
  });

  it('prints the secret of a new webhook also where the others cannot be listed', async () => {
    await using world = await shop();
    const fetch = async (request: Request): Promise<Response> =>
      request.method === 'GET'
        ? Response.json({ message: 'Something went wrong', code: 1 }, { status: 500 })
        : globalThis.fetch(request);
    const { code, stdout } = await world.at(`webhooks create --url ${world.receiver.url} --max-retries 0`, { fetch });
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^whsec_\S+\n$/) });
  });

  it('finds the ping below what was sent after it', async () => {
    await using world = await shop();
    const { receiver, at, json, create, addCustomer } = world;
    const { id } = await create();
    let looks = 0;
    const fetch = async (request: Request) => {
      if (request.url.includes('/webhook/deliveries') && looks++ === 0) {
        for (let made = 0; made < 45; made++) await addCustomer();
        await expect.poll(() => receiver.seqs.length).toBeGreaterThan(46);
        await expect.poll(async () => (await json(`webhooks deliveries ${id}`)).length).toBeGreaterThan(46);
      }
      return globalThis.fetch(request);
    };
    expect(await at(`webhooks test ${id}`, { fetch })).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^accepted ping \d+ with 204/),
    });
    expect(looks).toBeGreaterThan(1);
  });
});

describe('lkm webhooks deliveries and replay', () => {
  it('list what waits, and send all once more with the same ids', async () => {
    await using world = await shop([3_600]);
    const { receiver, at, json, create, addCustomer } = world;
    receiver.answer({ status: 500, body: 'out of order' });
    const { id } = await create();
    await addCustomer();
    const waiting = async () => (await json(`webhooks deliveries ${id} --state waiting`)).filter(isTried);
    const isTried = ({ attempts }: { attempts: number }) => attempts > 0;
    await expect.poll(async () => (await waiting()).length).toBe(2);
    const [last, first] = await waiting();
    const answered = { status: 500, error: 'answered 500', answer: 'out of order' };
    expect(last).toMatchObject({ type: 'customer.created', ...answered });
    expect(last.seq).toBe(first.seq + 1);
    const one = await at(`webhooks deliveries ${id} --limit 1`);
    expect(one.stdout.split('\n')).toHaveLength(2);
    expect(one.stderr).toBe('this is the first one; there are more\n');
    const shown = await at('webhooks list', { terminal: true, columns: 80 });
    expect(shown.stdout).toMatch(/STATE +WAITING/);
    expect(shown.stdout).toContain('failing: answered 500');
    expect((await at(`webhooks get ${id}`, { terminal: true })).stdout).toContain('failing: answered 500');

    receiver.answer(204);
    expect(await json(`webhooks update ${id} --active`)).toMatchObject({ failingSince: null, lastError: null });
    await expect.poll(() => json(`webhooks deliveries ${id} --state waiting`)).toEqual([]);
    const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
    for (const { eventId } of [first, last]) expect(ids.filter((each) => each === eventId)).toHaveLength(2);
    const sent = receiver.seqs.length;
    await at(`webhooks replay ${id} --after ${first.seq - 1}`);
    await expect.poll(() => receiver.seqs.slice(sent).sort()).toEqual(expect.arrayContaining([first.seq, last.seq]));
  });
});

describe('lkm webhooks rotate', () => {
  it('prints a new secret; both sign while they overlap, and the new one alone without', async () => {
    await using world = await shop();
    const { receiver, at, create } = world;
    const { id, secret: old } = await create();
    /** Which of the secrets verify what is sent now. */
    const signing = async (secrets: readonly string[]) => {
      await at(`webhooks test ${id}`);
      const { headers = {}, text = '' } = receiver.received.at(-1) ?? {};
      return secrets.filter((one) => {
        try {
          return verifyWebhook(headers, text, one) !== null;
        } catch {
          return false;
        }
      });
    };
    const rotated = await at(`webhooks rotate ${id} --overlap 1h`);
    expect(rotated.stderr).toContain(`rotated ${id} · the old secret signs until `);
    const secret = rotated.stdout.trim();
    expect(await signing([old, secret])).toEqual([old, secret]);
    const last = await at(`webhooks rotate ${id} --overlap 0s`);
    expect(last.stderr).toContain('the old secret no longer signs');
    expect(await signing([old, secret, last.stdout.trim()])).toEqual([last.stdout.trim()]);
  });
});
