import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type AnyEndpoint, mutates } from '../../src/contract/endpoint.ts';
import { apiErrors, commonReasons, type Reason } from '../../src/contract/errors.ts';
import { eventData } from '../../src/contract/events.ts';
import { listEndpoints } from '../../src/contract/index.ts';
import { wordsOf } from '../../src/store/search.ts';
import { engines, type Row as TableRow } from './engines.ts';
import { allRecorded, type Recorded, withoutRecord } from './recorded.ts';
import { expectSlots } from './slots.ts';
import { type Answer, type As, createWorld, type World } from './world.ts';

/** A request of one endpoint, whose method and path are known. */
export interface ScenarioRequest {
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

/** Fields of a query or a body; one that is undefined is not sent. */
type Fields = object;

/** What follows from the subject of a row, or is the same for all. */
type Of<It, T> = T | ((subject: It) => T);

/** What the rows of one endpoint have in common. `It` is what `given` has made: what the rows are about. */
export interface Table<It> {
  readonly given: (world: World) => Promise<It>;
  /** Who asks, unless the row says otherwise; an admin if absent. */
  readonly as?: As;
  /** A request that succeeds. */
  readonly query?: (subject: It) => Fields;
  readonly body?: (subject: It) => Fields;
  /** How many rows more (or less) each table has after a success; without it, nothing at all has changed. */
  readonly wrote?: Growth;
}

type Growth = Readonly<Record<string, number>> | 'nothing';

/** What one row says beyond its name and its answer. */
interface More<It> {
  /** What its request has in place of the table's, field by field; undefined leaves a field out. */
  readonly send?: Of<It, Fields>;
  /** What has happened before; what it returns stands in for the table's own. */
  readonly given?:
    | ((world: World, subject: It) => Promise<Partial<It>>)
    | ((world: World, subject: It) => Promise<void>);
  /** When the request is made, if not when the world began. */
  readonly at?: string;
  readonly as?: Of<It, As>;
  /** Besides a body. */
  readonly query?: Of<It, Fields>;
  readonly headers?: Record<string, string>;
  readonly wrote?: Growth;
  /** Texts that stand nowhere in the answer. */
  readonly absent?: Of<It, readonly string[]>;
  /** What is true afterwards. */
  readonly afterwards?: Afterwards<It>;
}

/** Looks at the world after the answer. */
export type Afterwards<It> = (world: World, subject: It, answer: Answer) => Promise<void>;

/** A refusal by its reason, with its message where that depends on the request; or the whole body of a success. */
type Expected<It> = Reason | readonly [reason: Reason, message: Of<It, string>] | { readonly body: Of<It, unknown> };

/** A row of the table of one endpoint. */
export interface Row<It> extends More<It> {
  readonly name: string;
  readonly expected: Expected<It>;
}

export const row = <It>(name: string, expected: Expected<It>, more: More<It> = {}): Row<It> => ({
  name,
  expected,
  ...more,
});

/** A success with this body. */
export const answers = <It>(body: Of<It, unknown>) => ({ body });

/** A row for each of some requests that are refused alike, by name of what is wrong with them. */
export const refuses = <It>(reason: Reason, requests: Readonly<Record<string, Fields>>): Row<It>[] =>
  Object.entries(requests).map(([name, send]) => row(`refuses ${name}`, reason, { send }));

/** Runs the table of an endpoint on every engine, each row in a world of its own. */
export function scenarios<It extends object>(endpointName: string, table: Table<It>, rows: readonly Row<It>[]): void {
  const endpoint = findEndpoint(endpointName);
  describe(`${endpoint.method} ${endpoint.path}`, () => {
    describe.each(engines)('on $name', (engine) => {
      for (const row of rows) {
        it(row.name, async () => {
          await using world = await createWorld({ engine });
          const before = await table.given(world);
          await play(world, endpoint, table, row, { ...before, ...(await row.given?.(world, before)) });
        });
      }
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
export function pathWith(endpoint: Pick<AnyEndpoint, 'path'>, query: object = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  const text = new URLSearchParams(given).toString();
  return text === '' ? endpoint.path : `${endpoint.path}?${text}`;
}

async function play<It extends object>(
  world: World,
  endpoint: AnyEndpoint,
  table: Table<It>,
  row: Row<It>,
  subject: It,
): Promise<void> {
  const as = valueFor(row.as, subject) ?? table.as ?? 'admin';
  const fields = valueFor(row.send, subject) ?? {};
  const own = valueFor(row.query, subject) ?? {};
  const query = { ...table.query?.(subject), ...(endpoint.body ? own : fields) };
  const body = endpoint.body && { ...table.body?.(subject), ...fields };
  await world.tokenOf(as);
  if (row.at !== undefined) world.setNow(row.at);
  const recordedBefore = await allRecorded(world);
  const before = withoutRecord(await world.contents());

  const answer = await world.call(as, endpoint.method, pathWith(endpoint, query), body, row.headers);

  const isDone = isSuccess(row.expected);
  expectAnswer(endpoint, answer, row.expected, subject);
  for (const text of valueFor(row.absent, subject) ?? [])
    expect(answer.text + JSON.stringify(answer.headers)).not.toContain(text);
  const after = withoutRecord(await world.contents());
  const recordedAfter = await allRecorded(world);
  const isRecorded = mutates(endpoint) && (isDone || recordedRefusals.includes(reasonOf(row.expected)));
  expect(recordedAfter.length - recordedBefore.length, 'entries of the record').toBe(isRecorded ? 1 : 0);
  expectPayloads(recordedAfter);
  const wrote = row.wrote ?? (isDone ? table.wrote : undefined) ?? 'nothing';
  if (wrote === 'nothing') expect(after).toEqual(before);
  else expect(growth(before, after)).toEqual(wrote);
  if ('customers' in after && 'licenses' in after && 'devices' in after) expectDerived(after);
  expectSlots(after);
  await row.afterwards?.(world, subject, answer);
}

/** What subscribers are told is what the document says of its type. */
function expectPayloads(recorded: readonly Recorded[]): void {
  for (const { events } of recorded) {
    for (const { type, data } of events)
      expect(z.looseObject(eventData[type]).safeParse(data).error, type).toBeUndefined();
  }
}

function expectAnswer<It>(endpoint: AnyEndpoint, answer: Answer, expected: Expected<It>, subject: It): void {
  const isDone = isSuccess(expected);
  const { status, body } = isDone
    ? { status: endpoint.reply.status, body: valueFor(expected.body, subject) }
    : expected === 'invalidParams'
      ? { status: 400, body: invalidBody(endpoint, answer) }
      : refusalOf(expected, subject);
  expect({ status: answer.status, body: answer.body }).toEqual({ status, body });
  expect(answer.headers).toMatchObject({
    'content-type': (isDone && endpoint.reply.contentType) || 'application/json',
    // What is public may be kept for a time; everything else and every refusal may not.
    'cache-control': endpoint.scope === 'public' && isDone ? 'public, max-age=300' : 'no-store',
    'x-content-type-options': 'nosniff',
    'x-request-id': expect.stringMatching(/^request-\d+$/),
  });
  if (isDone) expect(endpoint.reply.schema.safeParse(answer.body).error).toBeUndefined();
  else expect([...commonReasons, ...endpoint.errors]).toContain(reasonOf(expected));
}

/** The operations whose text for an invalid request the API description shows. */
const withFixedText = ['/create-key', '/deactivate-key'];

/** The body of 400/1. Where its text is not fixed, the message names the fields that the header names. */
export function invalidBody({ path }: Pick<AnyEndpoint, 'path'>, { headers }: Pick<Answer, 'headers'>) {
  const named = headers['lkm-invalid-fields'];
  const isBare = named === undefined || withFixedText.includes(path);
  return { message: `Missing required params${isBare ? '' : `: ${decodeURIComponent(named)}`}`, code: 1 };
}

const valueFor = <It, T>(value: Of<It, T>, subject: It): T =>
  typeof value === 'function' ? (value as (subject: It) => T)(subject) : value;

const isSuccess = <It>(expected: Expected<It>): expected is { readonly body: Of<It, unknown> } =>
  typeof expected === 'object' && 'body' in expected;

const reasonOf = <It>(expected: Exclude<Expected<It>, { readonly body: unknown }>): Reason =>
  typeof expected === 'string' ? expected : expected[0];

/** Status and body of a refusal, as the contract has them: docs/openapi.json, which a test compares, pins both. */
function refusalOf<It>(expected: Exclude<Expected<It>, { readonly body: unknown }>, subject: It) {
  const { status, code, message } = apiErrors[reasonOf(expected)];
  return { status, body: { message: typeof expected === 'string' ? message : valueFor(expected[1], subject), code } };
}

/** Refusals of mutations that are recorded. */
const recordedRefusals: readonly Reason[] = ['scopeMissing', 'tokenOutlives', 'activationLimit', 'sessionLimit'];

/**
 * The refusals of the endpoint itself that no row expects. Those that all have alike are tried in loops: 401 in
 * authentication.test.ts, scopes in isolation.test.ts, bad fields in bad-fields.test.ts, missing ones, changes meanwhile and
 * failures of the database in every-endpoint.test.ts.
 */
function missingReasons<It>(endpoint: AnyEndpoint, rows: readonly Row<It>[]): Reason[] {
  const tried = rows.flatMap(({ expected }) => (isSuccess(expected) ? [] : [reasonOf(expected)]));
  return endpoint.errors.filter((reason) => ![...tried, 'invalidParams', 'stale'].includes(reason));
}

/** By how many rows each table has grown; tables that have not are left out. */
function growth(before: Contents, after: Contents): Record<string, number> {
  const own = Object.entries(after).filter(([table]) => !derivedTables.includes(table));
  const changes = own.map(([table, rows]) => [table, rows.length - (before[table]?.length ?? 0)]);
  return Object.fromEntries(changes.filter(([, change]) => change !== 0));
}

type Contents = Awaited<ReturnType<World['contents']>>;

/** Tables that say nothing of their own: lists of keys find what other tables hold by them. */
const derivedTables: readonly string[] = ['customer_words', 'license_words', 'license_metadata'];

/** The derived tables hold what follows from the others, and nothing else. */
function expectDerived(contents: Contents): void {
  expect(sorted(contents.customer_words)).toEqual(sorted(customerWordsIn(contents)));
  expect(sorted(contents.license_words)).toEqual(sorted(licenseWordsIn(contents)));
  expect(sorted(contents.license_metadata)).toEqual(sorted(entriesIn(contents)));
}

const customerWordsIn = ({ customers = [] }: Contents): TableRow[] =>
  customers.map(({ account_id, id, name, email }) => ({ account_id, customer_id: id, words: words(name, email) }));

function licenseWordsIn({ devices = [], licenses = [] }: Contents): TableRow[] {
  const ofLicenses = licenses.map(({ account_id, id, reference, metadata }) => {
    const found = Object.entries(JSON.parse(String(metadata))).filter(isFindable);
    const texts = found.map(([, value]) => value).filter((value) => typeof value !== 'boolean');
    return { account_id, license_id: id, host_id: '', words: words(reference, ...texts.map(String)) };
  });
  const ofDevices = devices.map(({ account_id, license_id, host_id, tag }) => {
    return { account_id, license_id, host_id, words: words(host_id, tag) };
  });
  return [...ofLicenses, ...ofDevices].filter((row) => row.words !== '');
}

const words = (...texts: unknown[]): string =>
  wordsOf(...texts.map((text) => (typeof text === 'string' ? text : null)));

const entriesIn = ({ licenses = [] }: Contents): TableRow[] =>
  licenses.flatMap(({ account_id, id: license_id, metadata }) =>
    Object.entries(JSON.parse(String(metadata)))
      .filter(isFindable)
      .map(([name, value]) => ({ account_id, name, value: String(value), license_id })),
  );

const isFindable = ([, value]: readonly [string, unknown]) =>
  ['string', 'number', 'boolean'].includes(typeof value) && String(value).length <= 500;

const sorted = (rows: readonly TableRow[] = []): string[] =>
  rows.map((row) => JSON.stringify(Object.entries(row).toSorted(([one], [other]) => (one < other ? -1 : 1)))).sort();
