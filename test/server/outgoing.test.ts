import { createServer } from 'node:http';
import { expect, it } from 'vitest';
import { send } from '../../src/server/http/transport/node-adapter.ts';
import { openConnection } from '../support/raw-http.ts';

it('a body lets go of what it holds when the caller has gone before the response', async () => {
  const returned = Promise.withResolvers<boolean>();
  const body: AsyncIterable<string> = {
    [Symbol.asyncIterator]: () => ({
      next: async () => ({ done: false, value: 'more' }),
      async return() {
        returned.resolve(true);
        return { done: true, value: undefined };
      },
    }),
  };
  const asked = Promise.withResolvers<void>();
  const server = createServer((_, response) => {
    response.once('close', () => send(response, { status: 200, headers: {}, body }, () => {}, returned.reject));
    asked.resolve();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  using connection = openConnection(typeof address === 'object' && address !== null ? address.port : 0);
  connection.send('GET / HTTP/1.1', 'Host: localhost', '', '');
  await asked.promise;
  connection[Symbol.dispose]();
  expect(await returned.promise).toBe(true);
  server.close();
});
