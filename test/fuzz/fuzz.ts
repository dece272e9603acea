import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom, type Random } from '../../faults/random.ts';
import { type AnyEndpoint, reasonsOf } from '../../src/contract/endpoint.ts';
import { apiErrors } from '../../src/contract/errors.ts';
import { listEndpoints } from '../../src/contract/index.ts';
import { toOpenApi } from '../../src/contract/openapi/openapi.ts';
import type { Engine } from '../support/engines.ts';
import { absentIds, type Belongings, type EndpointName, furnish, validRequests } from '../support/requests.ts';
import { type Answer, type As, createWorld, type World } from '../support/world.ts';
import { brokenValue, happens, mutated } from './inputs.ts';

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
  const random = createRandom(seed);
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
      const { name, endpoint } = random.pick(endpoints);
      const shot = aim(name as EndpointName, endpoint, schemas.get(name) ?? {}, { own, foreign, random });
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
  readonly random: Random;
}

/** The schemas of the fields of each operation, from the document. */
function fieldSchemas(): ReadonlyMap<string, Readonly<Record<string, unknown>>> {
  const { paths, components } = JSON.parse(JSON.stringify(toOpenApi()));
  const resolve = (schema: unknown): unknown =>
    components.schemas[String(Object(schema).$ref).slice('#/components/schemas/'.length)] ?? schema;
  const found = new Map<string, Readonly<Record<string, unknown>>>();
  for (const operation of Object.values<object>(paths).flatMap((path) => Object.values(path))) {
    const { operationId, parameters = [], requestBody } = operation;
    const body = resolve(requestBody?.content?.['application/json']?.schema);
    const query = parameters
      .filter((one: { in?: string }) => one.in === 'query')
      .map(({ name, schema }: { name: string; schema: unknown }) => [name, schema]);
    const fields = [...Object.entries(Object(body).properties ?? {}), ...query];
    found.set(operationId, Object.fromEntries(fields.map(([name, schema]) => [name, resolve(schema)])));
  }
  return found;
}

function aim(
  name: EndpointName,
  endpoint: AnyEndpoint,
  schemas: Readonly<Record<string, unknown>>,
  { own, foreign, random }: Surroundings,
): Shot {
  const ids = happens(random, 0.85) ? own : happens(random, 0.5) ? foreign : absentIds;
  const { query = {}, body } = validRequests[name](ids);
  const isBroken = happens(random, 0.7);
  const fields = isBroken ? mutated(body === undefined ? query : Object(body), schemas, random) : Object(body ?? query);
  const inBody = endpoint.body !== undefined;
  const target = inBody ? withQuery(endpoint.path, query, random) : withQuery(endpoint.path, fields, random);
  const text = inBody ? bodyOf(fields, random) : happens(random, 0.02) ? '{}' : undefined;
  const admin: As = 'admin';
  const others: readonly As[] = ['read-only', 'client', 'nobody', 'other admin', { token: 'lkm_admin_x' }];
  return {
    as: happens(random, 0.85) ? admin : random.pick(others),
    method: happens(random, 0.97) ? endpoint.method : random.pick(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']),
    target: happens(random, 0.99)
      ? target
      : random.pick(['/', '/%', '//', '/key/../key', '/%2e%2e/', `/${'a'.repeat(9_000)}`, '/KEY']),
    headers: headersOf(text, random),
    body: text,
  };
}

function withQuery(path: string, query: Readonly<Record<string, unknown>>, random: Random): string {
  const parameters = Object.entries(query).map(([name, value]): [string, string] => [
    name,
    typeof value === 'string' ? value.toWellFormed() : String(JSON.stringify(value)),
  ]);
  const repeated = happens(random, 0.02) && parameters[0] ? [...parameters, parameters[0]] : parameters;
  const text = new URLSearchParams(repeated).toString().slice(0, 6_000);
  return `${path}${text === '' ? '' : `?${text}`}${happens(random, 0.02) ? random.pick(['&%', '&=', '#', '&a[]=1', '?']) : ''}`;
}

function bodyOf(fields: Readonly<Record<string, unknown>>, random: Random): string {
  const text = JSON.stringify(happens(random, 0.03) ? brokenValue(random) : fields) ?? '';
  if (happens(random, 0.95)) return text;
  return random.pick([
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

function headersOf(body: string | undefined, random: Random): Record<string, string> {
  const type = happens(random, 0.97)
    ? 'application/json'
    : random.pick(['text/plain', 'application/json; charset=utf-16', 'x/y']);
  const key = random.pick(['a', 'b', 'x'.repeat(255), 'x'.repeat(256), 'é', 'a b', '']);
  return {
    ...(body !== undefined && { 'Content-Type': type }),
    ...(happens(random, 0.15) && {
      'Idempotency-Key': happens(random, 0.6) ? `k${random.below(1_000)}` : encodeURI(key),
    }),
    ...(happens(random, 0.02) && { 'Content-Encoding': 'gzip' }),
    ...(happens(random, 0.02) && { 'X-Forwarded-For': '::, 1.2.3.4,' }),
  };
}

async function fire(world: World, { as, method, target, headers, body }: Shot): Promise<Answer | null> {
  const token = await world.tokenOf(as);
  const init = {
    method,
    headers: { ...headers, ...(token !== null && { Authorization: `Bearer ${token}` }) },
    ...(body !== undefined && method !== 'GET' && { body }),
  };
  return Promise.race([world.send(target, init), sleep(HANG_MS, null, { ref: false })]);
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
