import { describe, expect, it } from 'vitest';
import { createClient } from '../../src/index.ts';
import { engineOf } from '../support/engines.ts';
import { createWorld } from '../support/world.ts';
import { startServing } from './serving.ts';

/** Two `lkm serve` as they are built, on one PostgreSQL database with a product. */
async function serveTwice() {
  const world = await createWorld({ engine: engineOf('PostgreSQL') });
  const token = (await world.tokenOf('admin')) ?? '';
  const { id: productId } = await world.product();
  await world.store.close();
  const servers = await Promise.all([startServing(world.location), startServing(world.location)]);
  return {
    token,
    productId,
    servers,
    licenses: async () => (await world.contents()).licenses ?? [],
    [Symbol.asyncDispose]: async () => {
      for (const server of servers) await server[Symbol.asyncDispose]();
      await world[Symbol.asyncDispose]();
    },
  };
}

describe('two servers on one database', () => {
  it('execute one of a hundred requests under one key, whichever they reach', async () => {
    await using two = await serveTwice();
    const ask = async (index: number) => {
      const answer = await fetch(`${two.servers[index % 2]?.url}/create-key`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${two.token}`, 'Content-Type': 'application/json', 'Idempotency-Key': 'k' },
        body: JSON.stringify({ productId: two.productId }),
      });
      return { status: answer.status, text: await answer.text() };
    };
    const answers = await Promise.all(Array.from({ length: 100 }, (_, index) => ask(index)));

    const [made] = await two.licenses();
    const issued = { status: 200, text: JSON.stringify({ code: 0, key: made?.license_key }) };
    const running = { status: 409, text: expect.stringMatching(/^\{"message":".*","code":3\}$/) };
    expect(answers).toContainEqual(issued);
    for (const answer of answers) expect(answer).toEqual(answer.status === 200 ? issued : running);
    expect([await ask(0), await ask(1)]).toEqual([issued, issued]);
    expect(await two.licenses()).toHaveLength(1);
  });

  it('lose nothing and double nothing when one is killed under load, and clients do not notice', async () => {
    await using two = await serveTwice();
    const [first, second] = two.servers;
    const up = [first, second];
    let turn = 0;
    /** Goes to the servers by turns, and leaves out one that has failed, as what stands in front of them would. */
    const balance = async (request: Request) => {
      turn += 1;
      const server = up[turn % up.length] ?? second;
      const { pathname } = new URL(request.url);
      const { method, headers } = request;
      try {
        return await fetch(server.url + pathname, { method, headers, body: await request.arrayBuffer() });
      } catch (error) {
        if (up.includes(server)) up.splice(up.indexOf(server), 1);
        throw error;
      }
    };

    const client = createClient({ baseUrl: 'https://lkm.test', token: two.token, fetch: balance });
    const issued: string[] = [];
    let killed: Promise<void> | undefined;
    const issueSome = async () => {
      for (let count = 0; count < 10; count += 1) {
        const { key } = await client.keys.create({ productId: two.productId as never });
        issued.push(key);
        if (issued.length === 40) killed = first.kill();
      }
    };
    await Promise.all(Array.from({ length: 16 }, issueSome));
    await killed;

    expect(up).toEqual([second]);
    expect((await two.licenses()).map((row) => row.license_key).sort()).toEqual([...issued].sort());
    expect(new Set(issued).size).toBe(160);
  });
});
