import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect } from 'vitest';
import { contract } from '../../src/contract/index.ts';
import { readInput } from '../../src/server/http/input.ts';
import { test as it } from '../support/fixtures.ts';
import { openConnection } from '../support/raw-http.ts';
import { createWorld } from '../support/world.ts';

describe('the input of an operation', () => {
  it('has the fields of its contract, whatever others were sent', () => {
    const headers = { get: (name: string) => (name === 'content-type' ? 'application/json' : null), lines: () => [] };
    const request = {
      method: 'POST',
      target: '/customer',
      headers,
      peer: '127.0.0.1',
      readBody: async () => Buffer.of(),
    };
    const read = (sent: object) =>
      readInput(contract.customers.create, request, Buffer.from(JSON.stringify({ name: 'Ada', ...sent })));
    expect(read({ id: 'cus_1', active: false, isAdmin: true, created_at: '2020-01-01T00:00:00.000Z' })).toEqual({
      name: 'Ada',
    });
  });
});

describe('a body', () => {
  it('that comes after its token was revoked changes nothing', async () => {
    let milliseconds = 0;
    await using world = await createWorld({ monotonic: () => milliseconds });
    const revoked = await world.tokenOf({ scopes: ['customer:write'] });
    const kept = await world.tokenOf({ kind: 'admin', maxIssues: 1 });
    const begin = (token: string | null) => {
      const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const response = world.send('/customer', { method: 'POST', headers, body: readable, duplex: 'half' });
      const end = async () => {
        const writer = writable.getWriter();
        await writer.write(Buffer.from('{"name":"Mallory"}'));
        await writer.close();
        return response;
      };
      return end;
    };
    const [first, second] = [begin(revoked), begin(kept)];
    // Both wait for their bodies.
    await sleep(50);
    const self = await world.call({ token: revoked ?? '' }, 'GET', '/token/self');
    expect((await world.call('admin', 'DELETE', `/token/by-id?tokenId=${self.body.data.id}`)).status).toBe(200);
    milliseconds += 1_000;
    expect((await first()).status).toBe(401);
    expect((await second()).status).toBe(201);
    expect((await world.contents()).customers).toHaveLength(1);
  });

  it('that arrives in parts makes one request', async ({ service }) => {
    using connection = openConnection(service.server.port);
    const body = '{"name":"Ada Lovelace"}';
    connection.send(
      'POST /customer HTTP/1.1',
      'Host: localhost',
      `Authorization: Bearer ${service.adminToken}`,
      'Content-Type: application/json',
      'Connection: close',
      `Content-Length: ${body.length}`,
      '',
      body.slice(0, 9),
    );
    await new Promise((done) => setTimeout(done, 50));
    connection.send(body.slice(9));
    expect(await connection.end()).toMatch(/^HTTP\/1\.1 201 [\s\S]*"name":"Ada Lovelace"/);
  });
});
