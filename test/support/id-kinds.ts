import { listEndpoints, type NamedEndpoint } from '../../src/contract/index.ts';
import { absentIds, type Belongings, type EndpointName, validRequests } from './requests.ts';
import { pathWith } from './scenario.ts';
import type { As, World } from './world.ts';

export type IdKind = keyof Belongings;

/** Not ids of anything: they prove that a session is one's own. */
const proofs: readonly string[] = ['sessionSecret', 'nextNonce'];

const kinds = (Object.keys(absentIds) as IdKind[]).filter((kind) => !proofs.includes(kind));

/** Which ids a request can carry; a licence is named by two, and its session by three, so these are tried together too. */
const together: readonly (readonly IdKind[])[] = [
  ...kinds.map((kind) => [kind]),
  ['productId', 'licenseKey'],
  ['productId', 'licenseKey', 'sessionId'],
];

/** Every endpoint with every id that its request carries. */
export const idCases = listEndpoints().flatMap((named) =>
  together.filter((some) => some.every((kind) => carries(named, kind))).map((some) => ({ ...named, kinds: some })),
);

/** Fields of requests whose names look like those of ids, in every endpoint, by name of the field. */
export function idFields(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const { name, endpoint } of listEndpoints()) {
    for (const schema of [endpoint.query, endpoint.body]) {
      const shape = schema !== undefined && 'shape' in schema ? Object.keys(schema.shape as object) : [];
      for (const field of shape) {
        if (/(?:Ids?|[kK]ey|^reference|^account|^cursor)$/.test(field))
          found.set(field, [...(found.get(field) ?? []), name]);
      }
    }
  }
  return found;
}

/** Whether the id is part of the endpoint's request at all. */
function carries({ name }: NamedEndpoint, kind: IdKind): boolean {
  const request = validRequests[name as EndpointName];
  return JSON.stringify(request({ ...absentIds, [kind]: 'MARK' })).includes('MARK');
}

/** What is answered when some of the ids are taken from elsewhere; what differs from request to request is left out. */
export async function askWith(
  world: World,
  as: As,
  { name, endpoint }: NamedEndpoint,
  own: Belongings,
  some: readonly IdKind[],
  elsewhere: Belongings,
) {
  const taken = Object.fromEntries(some.map((kind) => [kind, elsewhere[kind]]));
  const { query, body } = validRequests[name as EndpointName]({ ...own, ...taken });
  const { status, headers, text } = await world.call(as, endpoint.method, pathWith(endpoint, query), body);
  const { 'x-request-id': _, ratelimit: __, ...same } = headers;
  return { status, headers: same, text: some.reduce((all, kind) => all.replaceAll(elsewhere[kind], kind), text) };
}
