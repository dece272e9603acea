import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type AnyEndpoint, mutates } from '../../src/contract/endpoint.ts';
import { apiErrors, commonReasons, type Reason } from '../../src/contract/errors.ts';
import { eventData } from '../../src/contract/events.ts';
import { listEndpoints } from '../../src/contract/index.ts';
import { derivedTables, expectDerived } from './derived.ts';
import { engines } from './engines.ts';
import { allRecorded, type Recorded, withoutRecord } from './recorded.ts';
import { type Answer, type As, createWorld, type World } from './world.ts';

/** A request of one endpoint, whose method and path are known. */
export interface ScenarioRequest {
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

/** A row of the table of one endpoint. `It` is what the table's own `given` has made: what the row is about. */
export interface Scenario<It> {
  readonly name: string;
  /** What has happened before; what it answers stands in for the table's own. */
  readonly given?:
    | ((world: World, subject: It) => Promise<Partial<It>>)
    | ((world: World, subject: It) => Promise<void>);
  /** When the request is made, if not when the world began. */
  readonly at?: string;
  readonly as: As | ((subject: It) => As);
  readonly request: ScenarioRequest | ((subject: It) => ScenarioRequest);
  readonly expect: Refused<It> | Done<It>;
  /** How many rows more (or less) each table has, derived ones apart; without it, nothing at all has changed. */
  readonly wrote?: Readonly<Record<string, number>>;
  /** Texts that stand nowhere in the answer. */
  readonly absent?: (subject: It) => readonly string[];
  /** What is true afterwards. */
  readonly afterwards?: Afterwards<It>;
}

/** Looks at the world after the answer. */
export type Afterwards<It> = (world: World, subject: It, answer: Answer) => Promise<void>;

interface Refused<It> {
  readonly status: number;
  readonly code: number;
  readonly message: string | ((subject: It) => string);
}

interface Done<It> {
  readonly status: number;
  /** The whole body. */
  readonly body: unknown | ((subject: It) => unknown);
}

/** Runs the table of an endpoint on every engine, each row in a world of its own. */
export function scenarios<It extends object>(
  endpointName: string,
  given: (world: World) => Promise<It>,
  rows: readonly Scenario<It>[],
): void {
  const endpoint = findEndpoint(endpointName);
  describe(`${endpoint.method} ${endpoint.path}`, () => {
    describe.each(engines)('on $name', (engine) => {
      it.each(rows)('$name', async (row) => {
        await using world = await createWorld({ engine });
        const before = await given(world);
        await play(world, endpoint, row, { ...before, ...(await row.given?.(world, before)) });
      });
    });

    it('has a row for every line of its error table', () => {
      expect(missingReasons(endpoint, rows)).toEqual([]);
    });
  });
}

/** The endpoint of this name, `keys.create`. */
export function findEndpoint(name: string): AnyEndpoint {
  const found = listEndpoints().find((each) => each.name === name);
  if (found === undefined) throw new Error(`the contract has no endpoint ${name}`);
  return found.endpoint;
}

/** The path of an endpoint with a query. */
export function pathWith(endpoint: AnyEndpoint, query: Readonly<Record<string, string>> = {}): string {
  const text = new URLSearchParams(query).toString();
  return text === '' ? endpoint.path : `${endpoint.path}?${text}`;
}

async function play<It extends object>(
  world: World,
  endpoint: AnyEndpoint,
  row: Scenario<It>,
  subject: It,
): Promise<void> {
  const as = typeof row.as === 'function' ? row.as(subject) : row.as;
  const { query, body, headers } = typeof row.request === 'function' ? row.request(subject) : row.request;
  await world.tokenOf(as);
  if (row.at !== undefined) world.setNow(row.at);
  const recordedBefore = await allRecorded(world);
  const before = withoutRecord(await world.contents());

  const answer = await world.call(as, endpoint.method, pathWith(endpoint, query), body, headers);

  expectAnswer(endpoint, answer, row.expect, subject);
  for (const text of row.absent?.(subject) ?? [])
    expect(answer.text + JSON.stringify(answer.headers)).not.toContain(text);
  const after = withoutRecord(await world.contents());
  const recordedAfter = await allRecorded(world);
  const isRecorded = mutates(endpoint) && ('body' in row.expect || isRecordedRefusal(row.expect));
  expect(recordedAfter.length - recordedBefore.length, 'entries of the record').toBe(isRecorded ? 1 : 0);
  expectPayloads(recordedAfter);
  if (row.wrote === undefined) expect(after).toEqual(before);
  else expect(growth(before, after)).toEqual(row.wrote);
  if ('customers' in after && 'licenses' in after && 'devices' in after) expectDerived(after);
  await row.afterwards?.(world, subject, answer);
}

/** What subscribers are told is what the document says of its type. */
function expectPayloads(recorded: readonly Recorded[]): void {
  for (const { events } of recorded) {
    for (const { type, data } of events)
      expect(z.looseObject(eventData[type]).safeParse(data).error, type).toBeUndefined();
  }
}

function expectAnswer<It>(endpoint: AnyEndpoint, answer: Answer, expected: Refused<It> | Done<It>, subject: It): void {
  const body =
    'body' in expected
      ? valueFor(expected.body, subject)
      : { message: valueFor(expected.message, subject), code: expected.code };
  expect({ status: answer.status, body: answer.body }).toEqual({ status: expected.status, body });
  expect(answer.headers).toMatchObject({
    'content-type': ('body' in expected && endpoint.reply.contentType) || 'application/json',
    // What is public may be kept for a time; everything else and every refusal may not.
    'cache-control': endpoint.scope === 'public' && 'body' in expected ? 'public, max-age=300' : 'no-store',
    'x-content-type-options': 'nosniff',
    'x-request-id': expect.stringMatching(/^request-\d+$/),
  });
  if ('body' in expected) {
    expect(answer.status).toBe(endpoint.reply.status);
    expect(endpoint.reply.schema.safeParse(answer.body).error).toBeUndefined();
  } else {
    expect(reasonsOf(endpoint).some((reason) => isAbout(reason, expected))).toBe(true);
  }
}

const valueFor = <It>(value: unknown, subject: It): unknown => (typeof value === 'function' ? value(subject) : value);

const reasonsOf = (endpoint: AnyEndpoint): readonly Reason[] => [...commonReasons, ...endpoint.errors];

/** Whether a refused mutation is recorded. */
const isRecordedRefusal = <It>(refused: Refused<It>): boolean =>
  (['scopeMissing', 'activationLimit', 'sessionLimit'] as const).some((reason) => isAbout(reason, refused));

/** Whether the expected refusal is this one; a message that the row computes fits by its shape. */
function isAbout<It>(reason: Reason, { status, code, message }: Refused<It>): boolean {
  const known = apiErrors[reason];
  if (known.status !== status || known.code !== code) return false;
  return known.message.includes('{') ? typeof message === 'function' : known.message === message;
}

/**
 * The refusals of the endpoint itself that no row expects. Those that all have alike are tried in loops: 401 in
 * authentication.test.ts, scopes in isolation.test.ts, missing fields and failures of the database in every-endpoint.test.ts.
 */
function missingReasons<It>(endpoint: AnyEndpoint, rows: readonly Scenario<It>[]): Reason[] {
  const expected = rows.flatMap((row) => ('code' in row.expect ? [row.expect] : []));
  return endpoint.errors.filter((reason) => !expected.some((refused) => isAbout(reason, refused)));
}

/** By how many rows each table has grown; tables that have not are left out. */
function growth(
  before: Awaited<ReturnType<World['contents']>>,
  after: Awaited<ReturnType<World['contents']>>,
): Record<string, number> {
  const own = Object.entries(after).filter(([table]) => !derivedTables.includes(table));
  const changes = own.map(([table, rows]) => [table, rows.length - (before[table]?.length ?? 0)]);
  return Object.fromEntries(changes.filter(([, change]) => change !== 0));
}
