import { expect, it } from 'vitest';
import type { AppParts } from '../../src/server/app-parts.ts';
import { withBody } from '../../src/server/http/authenticate.ts';
import type { AuthorizedRequest } from '../../src/server/http/authorized-request.ts';
import { createPlaces } from '../../src/server/places.ts';
import { engineOf } from '../support/engines.ts';
import { openConnection, postHead } from '../support/raw-http.ts';
import { startTestServer } from '../support/server.ts';

it('so many run, the others after them in the order of their arrival, and one more than may wait is refused', async () => {
  const places = createPlaces('requests', { maxRunning: 2, maxWaiting: 3 });
  const begun: number[] = [];
  const works = Array.from({ length: 5 }, () => Promise.withResolvers<void>());
  const taken = works.map(({ promise }, index) =>
    places.run('', () => {
      begun.push(index);
      return promise;
    }),
  );
  await new Promise(setImmediate);
  await expect(places.run('', async () => {})).rejects.toMatchObject({
    reason: 'unavailable',
    cause: { name: 'Overload', message: '3 requests wait' },
  });
  expect([begun, places.load()]).toEqual([[0, 1], { running: 2, waiting: 3 }]);
  works[1]?.resolve();
  await taken[1];
  await new Promise(setImmediate);
  expect(begun).toEqual([0, 1, 2]);
  for (const { resolve } of works) resolve();
  await Promise.all(taken);
  expect([begun, places.load()]).toEqual([[0, 1, 2, 3, 4], { running: 0, waiting: 0 }]);
});

it('a request does nothing before it has a place', async () => {
  const parts = { places: createPlaces('requests', { maxRunning: 1, maxWaiting: 1 }), monotonic: () => 0 };
  const request = { route: { endpoint: { method: 'GET' } } };
  const begun: number[] = [];
  const held = Promise.withResolvers<void>();
  const all = [1, 2].map((index) =>
    withBody(parts as AppParts, request as AuthorizedRequest, () => {
      begun.push(index);
      return held.promise;
    }),
  );
  await new Promise(setImmediate);
  expect(begun).toEqual([1]);
  held.resolve();
  await Promise.all(all);
  expect(begun).toEqual([1, 2]);
});

it('a place is given back by a request that fails', async () => {
  await using service = await startTestServer({ requests: { maxRunning: 1, maxWaiting: 0 } });
  for (const _ of [1, 2]) expect((await service.call('GET', '/key?productId=x')).status).toBe(400);
  for (const _ of [1, 2]) expect((await service.call('POST', '/customer', {})).status).toBe(400);
});

it('a server that runs as many requests as it may answers 503 to one more, which has not happened, and goes on', async () => {
  // Its transactions wait for another process, and so overlap.
  await using database = await engineOf('PostgreSQL').createDatabase();
  await database.store.close();
  await using service = await startTestServer({ db: database.location, requests: { maxRunning: 1, maxWaiting: 0 } });
  const names = Array.from({ length: 50 }, (_, index) => `customer ${index}`);
  const sent = await Promise.all(names.map((name) => service.call('POST', '/customer', { name })));
  const refused = sent.filter(({ status }) => status === 503);
  expect(refused.length).toBeGreaterThan(0);
  expect(refused[0]).toMatchObject({
    headers: { 'retry-after': '1' },
    body: { message: 'Service unavailable', code: 1 },
  });
  const made = names.filter((_, index) => sent[index]?.status === 201);
  const { body } = await service.call('GET', '/customer');
  expect(body.data.map(({ name }: { name: string }) => name).sort()).toEqual(made.sort());
});

it('requests whose body has not come yet do not count', async () => {
  await using service = await startTestServer({ requests: { maxRunning: 1, maxWaiting: 0 } });
  using slow = openConnection(service.server.port);
  slow.send(...postHead(service.adminToken, 15), '', '');
  await slow.until(/100 Continue/);
  expect((await service.call('GET', '/customer')).status).toBe(200);
  slow.send('{"name":"slow"}');
  await slow.until(/HTTP\/1\.1 201/);
});
