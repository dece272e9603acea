import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { namesIn } from '../../src/contract/field-names.ts';
import { type Contract, listEndpoints } from '../../src/contract/index.ts';
import { engines } from '../support/engines.ts';
import { testsOn } from '../support/fixtures.ts';
import { withoutRecord } from '../support/recorded.ts';
import { ask, type EndpointName, furnish, validRequests } from '../support/requests.ts';
import { invalidBody, pathWith } from '../support/scenario.ts';

describe('every endpoint', () => {
  it('has one table of scenarios', () => {
    const sources = readdirSync(import.meta.dirname).map((name) =>
      readFileSync(join(import.meta.dirname, name), 'utf8'),
    );
    const tables = sources.flatMap((source) => [...source.matchAll(/^scenarios(?:<[^>]+>)?\(\s*'([\w.]+)'/gm)]);
    expect(tables.map(([, name]) => name).sort()).toEqual(
      listEndpoints()
        .map(({ name }) => name)
        .sort(),
    );
  });

  describe.each(engines)('on $name', (engine) => {
    const it = testsOn(engine);

    it.for(listEndpoints())('$name succeeds with the valid request that other tests vary', async (named, { world }) => {
      const { status, text } = await ask(world, 'admin', named, await furnish(world));
      expect({ status, text }).toEqual({ status: named.endpoint.reply.status, text });
    });

    it.for(listEndpoints().filter(({ endpoint }) => namesIn(endpoint.query ?? endpoint.body).includes('licenseKey')))(
      '$name succeeds with an imported key of 14 characters, and refuses a text of 22 that is no key',
      async (named, { world }) => {
        const own = await furnish(world, 'admin', 'zoe@example.com', 'ABCD-1234-EFGH');
        const other = { ...own, licenseKey: 'ABCD-1234-EFGH-5678-90' };
        const refused = await ask(world, 'admin', named, other);
        expect([refused.status, refused.body]).toEqual([400, invalidBody(named.endpoint, refused)]);
        expect(refused.headers['lkm-invalid-fields']).toBe('licenseKey');
        const { status, text } = await ask(world, 'admin', named, own);
        expect({ status, text }).toEqual({ status: named.endpoint.reply.status, text });
      },
    );

    it.for(listEndpoints())(
      '$name refuses a request without a field that it requires',
      async ({ name, endpoint }, { world }) => {
        const { query = {}, body = {} } = validRequests[name as EndpointName](await furnish(world));
        await world.tokenOf('admin');
        const before = await world.contents();
        for (const { field, isInBody } of requiredFields(endpoint)) {
          const without = { [field]: undefined };
          const path = pathWith(endpoint, isInBody ? query : { ...query, ...without });
          const sent = endpoint.body && { ...Object(body), ...(isInBody && without) };
          const answer = await world.call('admin', endpoint.method, path, sent);
          expect([field, answer.status, answer.body]).toEqual([field, 400, invalidBody(endpoint, answer)]);
          expect(answer.headers['lkm-invalid-fields']).toMatch(field);
        }
        expect(await world.contents()).toEqual(before);
      },
    );

    it.for(listEndpoints().filter(({ endpoint }) => endpoint.errors.includes('stale')))(
      '$name refuses to change what was changed meanwhile, and changes nothing',
      async ({ name, endpoint }, { world }) => {
        const { query, body } = validRequests[name as EndpointName](await furnish(world));
        const before = withoutRecord(await world.contents());
        const seen = { ifUpdatedAt: '2026-11-21T09:59:59Z' };
        const path = pathWith(endpoint, endpoint.body ? query : { ...query, ...seen });
        const answer = await world.call('admin', endpoint.method, path, endpoint.body && { ...Object(body), ...seen });
        const message = expect.stringMatching(/^It was changed meanwhile, at 2026-11-21T10:00:00\.00\dZ$/);
        expect([answer.status, answer.body]).toEqual([409, { message, code: 5 }]);
        expect(withoutRecord(await world.contents())).toEqual(before);
      },
    );

    it.for(listEndpoints())(
      '$name answers 500 when the database fails, and changes nothing',
      async ({ name, endpoint }, { world }) => {
        const own = await furnish(world);
        await world.breakTable(laterTables[name] ?? tables[name.split('.')[0] as keyof Contract]);
        const before = await world.contents();
        const answer = await ask(world, 'admin', { name, endpoint }, own);
        expect([answer.status, answer.body]).toEqual([500, { message: 'Server error', code: 1 }]);
        expect(await world.contents()).toEqual(before);
      },
    );
  });
});

const { paths, components } = JSON.parse(readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8'));

/** Read from the document, so that the schemas are not checked against themselves. */
function requiredFields({ method, path }: { readonly method: string; readonly path: string }) {
  const { parameters = [], requestBody } = paths[path][method.toLowerCase()];
  const inQuery = parameters.filter((one: Parameter) => one.in === 'query' && one.required);
  const schema = requestBody?.content['application/json'].schema;
  const { required = [] } = components.schemas[schema?.$ref?.split('/').at(-1)] ?? schema ?? {};
  return [
    ...inQuery.map(({ name }: Parameter) => ({ field: name, isInBody: false })),
    ...required.map((field: string) => ({ field, isInBody: true })),
  ];
}

interface Parameter {
  readonly in: string;
  readonly name: string;
  readonly required?: boolean;
}

/** A table without which every request of the resource fails. */
const tables: Readonly<Record<keyof Contract, string>> = {
  keys: 'licenses',
  devices: 'devices',
  sessions: 'sessions',
  customers: 'customers',
  products: 'products',
  plans: 'plans',
  tokens: 'tokens',
  signingKeys: 'signing_keys',
  revocations: 'revocation_lists',
  events: 'events',
  audit: 'audit',
  webhooks: 'webhooks',
  stats: 'devices',
  search: 'customers',
};

/** A table that the request uses later, so that its earlier writes must be undone. */
const laterTables: Readonly<Partial<Record<string, string>>> = {
  'keys.get': 'devices',
  'keys.activate': 'devices',
  'keys.rebind': 'license_files',
  'keys.deactivate': 'devices',
  'keys.sign': 'license_files',
  'keys.checkout': 'sessions',
  'keys.heartbeat': 'sessions',
  'keys.checkin': 'sessions',
  'keys.update': 'devices',
  'keys.renew': 'devices',
  'keys.transfer': 'devices',
  'keys.block': 'license_files',
  'keys.revoke': 'license_files',
  'keys.reissue': 'previous_keys',
  'keys.trial': 'trials',
  'keys.deactivateOffline': 'devices',
  'keys.delete': 'sessions',
  'customers.keys': 'licenses',
  'customers.delete': 'licenses',
  'products.get': 'product_versions',
  'products.createVersion': 'product_versions',
  'products.updateVersion': 'product_versions',
  'audit.checkpoints': 'checkpoints',
};
