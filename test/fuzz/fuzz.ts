import { type AnyEndpoint, reasonsOf } from '../../src/contract/endpoint.ts';
import { apiErrors } from '../../src/contract/errors.ts';
import { listEndpoints } from '../../src/contract/index.ts';
import { toOpenApi } from '../../src/contract/openapi/openapi.ts';
import type { Engine } from '../support/engines.ts';
import { absentIds, type Belongings, type EndpointName, furnish, validRequests } from '../support/requests.ts';
import { type Answer, type As, createWorld, type World } from '../support/world.ts';
import { brokenValue, type Chance, createChance, mutated } from './inputs.ts';

/** What a run has found. */
export interface Findings {
  readonly requests: number;
  /** Answers by status. */
  readonly statuses: ReadonlyMap<number, number>;
  /** Answers that the contract does not have, each once, with the request. */
  readonly problems: readonly string[];
  /** Bytes on the heap after a quarter of the requests, and at the end. */
  readonly heap: readonly [early: number, late: number];
}

/** A request as it is sent. */
interface Shot {
  readonly as: As;
  readonly method: string;
  readonly target: string;
  readonly headers: Record<string, string>;
  readonly body: string | undefined;
}

/** A world is left after so many requests: by then much in it has been deleted. */
const REQUESTS_PER_WORLD = 500;

/** No request may take longer, in milliseconds. */
const HANG_MS = 20_000;

/** Sends requests made from the OpenAPI document, valid and broken, and compares each answer with the contract. */
export async function fuzz(engine: Engine, { requests, seed }: { requests: number; seed: number }): Promise<Findings> {
  const chance = createChance(seed);
  const statuses = new Map<number, number>();
  const problems = new Set<string>();
  const endpoints = listEndpoints();
  const schemas = fieldSchemas();
  let early = 0;
  for (let sent = 0; sent < requests; ) {
    await using world = await createWorld({
      engine,
      perMinute: 1_000_000_000,
      lookupsPerMinute: null,
      failuresPerMinute: 1e9,
    });
    const own = await furnish(world);
    const foreign = await furnish(world, 'other admin');
    for (let i = 0; i < REQUESTS_PER_WORLD && sent < requests; i += 1, sent += 1) {
      const { name, endpoint } = chance.pick(endpoints);
      const shot = aim(name as EndpointName, endpoint, schemas.get(name) ?? {}, { own, foreign, chance });
      const answer = await fire(world, shot);
      statuses.set(answer?.status ?? 0, (statuses.get(answer?.status ?? 0) ?? 0) + 1);
      const problem = answer === null ? 'no answer' : problemOf(shot, endpoint, answer);
      if (problem !== null && problems.size < 20) problems.add(`${problem}\n  ${describeShot(shot)}`);
      if (Reflect.get({}, 'polluted') !== undefined)
        throw new Error(`a prototype was polluted by ${describeShot(shot)}`);
    }
    if (early === 0 && sent >= requests / 4) early = heapUsed();
  }
  return { requests, statuses, problems: [...problems], heap: [early, heapUsed()] };
}

function heapUsed(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

interface Surroundings {
  readonly own: Belongings;
  readonly foreign: Belongings;
  readonly chance: Chance;
}

/** The schemas of the fields of each operation, from the document. */
function fieldSchemas(): ReadonlyMap<string, Readonly<Record<string, unknown>>> {
  const document: { paths: Record<string, Record<string, unknown>>; components: { schemas: Record<string, unknown> } } =
    JSON.parse(JSON.stringify(toOpenApi()));
  const resolve = (schema: unknown): unknown => {
    const ref = Object(schema).$ref;
    return typeof ref === 'string' ? document.components.schemas[ref.slice('#/components/schemas/'.length)] : schema;
  };
  const found = new Map<string, Readonly<Record<string, unknown>>>();
  for (const operation of Object.values(document.paths).flatMap((path) => Object.values(path))) {
    const { operationId, parameters = [], requestBody } = Object(operation);
    const body = resolve(requestBody?.content?.['application/json']?.schema);
    const fields = Object.entries(Object(body).properties ?? {}).map(([name, schema]) => [name, resolve(schema)]);
    const query = parameters.map(({ name, schema }: { name: string; schema: unknown }) => [name, resolve(schema)]);
    found.set(operationId, Object.fromEntries([...fields, ...query]));
  }
  return found;
}

function aim(
  name: EndpointName,
  endpoint: AnyEndpoint,
  schemas: Readonly<Record<string, unknown>>,
  { own, foreign, chance }: Surroundings,
): Shot {
  const ids = chance.is(0.85) ? own : chance.is(0.5) ? foreign : absentIds;
  const { query = {}, body } = validRequests[name](ids);
  const isBroken = chance.is(0.7);
  const fields = isBroken ? mutated(body === undefined ? query : Object(body), schemas, chance) : Object(body ?? query);
  const inBody = endpoint.body !== undefined;
  const target = inBody ? withQuery(endpoint.path, query, chance) : withQuery(endpoint.path, fields, chance);
  const text = inBody ? bodyOf(fields, chance) : chance.is(0.02) ? '{}' : undefined;
  const admin: As = 'admin';
  const others: readonly As[] = ['read-only', 'client', 'nobody', 'other admin', { token: 'lkm_admin_x' }];
  return {
    as: chance.is(0.85) ? admin : chance.pick(others),
    method: chance.is(0.97) ? endpoint.method : chance.pick(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']),
    target: chance.is(0.99)
      ? target
      : chance.pick(['/', '/%', '//', '/key/../key', '/%2e%2e/', `/${'a'.repeat(9_000)}`, '/KEY']),
    headers: headersOf(text, chance),
    body: text,
  };
}

function withQuery(path: string, query: Readonly<Record<string, unknown>>, chance: Chance): string {
  const parameters = Object.entries(query).map(([name, value]): [string, string] => [
    name,
    typeof value === 'string' ? value.toWellFormed() : String(JSON.stringify(value)),
  ]);
  const repeated = chance.is(0.02) && parameters[0] ? [...parameters, parameters[0]] : parameters;
  const text = new URLSearchParams(repeated).toString().slice(0, 6_000);
  return `${path}${text === '' ? '' : `?${text}`}${chance.is(0.02) ? chance.pick(['&%', '&=', '#', '&a[]=1', '?']) : ''}`;
}

function bodyOf(fields: Readonly<Record<string, unknown>>, chance: Chance): string {
  const text = JSON.stringify(chance.is(0.03) ? brokenValue(chance) : fields) ?? '';
  if (chance.is(0.95)) return text;
  return chance.pick([
    text.slice(0, -1),
    `${text},`,
    `\ufeff${text}`,
    '{"__proto__":{"polluted":true}}',
    '{"constructor":{"prototype":{"polluted":true}}}',
    `${'['.repeat(5_000)}${']'.repeat(5_000)}`,
    '{"a":1e999}',
    'nothing',
    '',
  ]);
}

function headersOf(body: string | undefined, chance: Chance): Record<string, string> {
  const type = chance.is(0.97)
    ? 'application/json'
    : chance.pick(['text/plain', 'application/json; charset=utf-16', 'x/y']);
  const key = chance.pick(['a', 'b', 'x'.repeat(255), 'x'.repeat(256), 'é', 'a b', '']);
  return {
    ...(body !== undefined && { 'Content-Type': type }),
    ...(chance.is(0.15) && { 'Idempotency-Key': chance.is(0.6) ? `k${chance.below(1_000)}` : encodeURI(key) }),
    ...(chance.is(0.02) && { 'Content-Encoding': 'gzip' }),
    ...(chance.is(0.02) && { 'X-Forwarded-For': '::, 1.2.3.4,' }),
  };
}

async function fire(world: World, { as, method, target, headers, body }: Shot): Promise<Answer | null> {
  const token = await world.tokenOf(as);
  const init = {
    method,
    headers: { ...headers, ...(token !== null && { Authorization: `Bearer ${token}` }) },
    ...(body !== undefined && method !== 'GET' && { body }),
  };
  let timer: NodeJS.Timeout | undefined;
  const hang = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, HANG_MS, null);
  });
  try {
    return await Promise.race([world.send(target, init), hang]);
  } finally {
    clearTimeout(timer);
  }
}

/** The pages for people hold nothing that belongs to anybody. A Request has its target without dots: `/%2e%2e/` is `/`. */
const isPage = (target: string): boolean => /^\/(docs\b.*)?$/.test(new URL(`http://localhost${target}`).pathname);

/** What is wrong with an answer by the contract, or null. */
function problemOf({ method, target }: Shot, endpoint: AnyEndpoint, { status, body, headers }: Answer): string | null {
  const isOwn = method === endpoint.method && target.split(/[?#]/)[0] === endpoint.path;
  const isPublic = endpoint.scope === 'public' || isPage(target);
  if (headers['cache-control'] !== 'no-store' && !(isPublic && status < 400)) return 'may be cached';
  if (status >= 500) return `${status} ${JSON.stringify(body)}`;
  if (status < 300) {
    if (!isOwn) return null;
    if (status !== endpoint.reply.status) return `${status} in place of ${endpoint.reply.status}`;
    const { error } = endpoint.reply.schema.safeParse(body);
    return error === undefined ? null : `a reply outside of its schema: ${error.message.slice(0, 200)}`;
  }
  const { message, code, ...more } = Object(body);
  if (typeof message !== 'string' || typeof code !== 'number' || Object.keys(more).length > 0) {
    return `${status} with a body that is no error: ${JSON.stringify(body)}`;
  }
  const known = isOwn ? reasonsOf(endpoint) : (['routeNotFound', 'methodNotAllowed'] as const);
  const fits = known.some((reason) => apiErrors[reason].status === status && apiErrors[reason].code === code);
  return fits || !isOwn ? null : `${status}/${code}, which the contract does not list`;
}

const describeShot = ({ as, method, target, headers, body }: Shot): string =>
  `${JSON.stringify(as)} ${method} ${target.slice(0, 300)} ${JSON.stringify(headers)} ${body?.slice(0, 500) ?? ''}`;
