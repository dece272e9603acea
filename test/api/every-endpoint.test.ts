import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listEndpoints } from '../../src/contract/index.ts';
import { engines } from '../support/engines.ts';
import { type EndpointName, furnish, validRequests } from '../support/requests.ts';
import { pathWith } from '../support/scenario.ts';
import { createWorld } from '../support/world.ts';

describe('every endpoint', () => {
  it('has one table of scenarios, which has a row for every line of its error table', () => {
    const sources = readdirSync(import.meta.dirname).map((name) =>
      readFileSync(join(import.meta.dirname, name), 'utf8'),
    );
    const tables = sources.flatMap((source) => [...source.matchAll(/^scenarios(?:<\w+>)?\(\s*'([\w.]+)'/gm)]);
    expect(tables.map(([, name]) => name).sort()).toEqual(
      listEndpoints()
        .map(({ name }) => name)
        .sort(),
    );
  });

  describe.each(engines)('on $name', (engine) => {
    it.each(listEndpoints())(
      '$name succeeds with the request that other tests then spoil',
      async ({ name, endpoint }) => {
        await using world = await createWorld({ engine });
        const { query, body } = validRequests[name as EndpointName](await furnish(world));
        const answer = await world.call('admin', endpoint.method, pathWith(endpoint, query), body);
        expect({ status: answer.status, text: answer.text }).toEqual({
          status: endpoint.reply.status,
          text: answer.text,
        });
      },
    );
  });
});
