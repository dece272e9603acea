import { pipeline, Readable } from 'node:stream';
import type { Token } from 'stream-json/parser.js';
import type streamArray from 'stream-json/streamers/stream-array.js';
import { CommandError } from '../../failure/errors.ts';
import { isTooLong, parseJson } from '../../values/json.ts';
import { isObject } from './columns.ts';
import { flatten, type Included, readIncluded } from './json-api.ts';
import type { RawRow, Report } from './raw-row.ts';

/** Reads an object per line: a row, or a page with several rows. */
export async function* readJsonLines(texts: AsyncIterable<string>, report: Report): AsyncGenerator<RawRow> {
  let line = 0;
  let last = 0;
  for await (const text of linesOf(texts)) {
    line += 1;
    if (text.trim() === '') continue;
    try {
      for (const row of rowsIn(parseJson(text), line, report)) {
        // The rows of a page are counted on from its line.
        last = Math.max(line, last + 1);
        yield { ...row, line: last };
      }
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      report(line, 'is not JSON');
    }
  }
}

async function* linesOf(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = '';
  for await (const text of texts) {
    // A carriage return at the end of a part may be half of a line end.
    const lines = (rest + text).split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? '';
    yield* lines;
  }
  yield rest;
}

/** Reads a JSON array of objects or pages. */
export async function* readJsonArray(texts: AsyncIterable<string>, report: Report): AsyncGenerator<RawRow> {
  const { default: streamArray } = await import('stream-json/streamers/stream-array.js');
  yield* readStream(await parserFor(streamArray()), texts, 'it is not a JSON array', report);
}

/** Reads one or several JSON objects, each a page with rows. */
export async function* readJsonPages(texts: AsyncIterable<string>, report: Report): AsyncGenerator<RawRow> {
  const { default: streamValues } = await import('stream-json/streamers/stream-values.js');
  yield* readStream(await parserFor(streamValues(), { jsonStreaming: true }), texts, 'it is not JSON', report);
}

/** A parser whose tokens go to a streamer; long numbers become text, as {@link parseJson} reads them. */
async function parserFor(
  take: ReturnType<typeof streamArray>,
  { jsonStreaming = false } = {},
): Promise<NodeJS.ReadWriteStream> {
  const { default: withParser } = await import('stream-json/utils/with-parser.js');
  const asText = (token: Token): Token =>
    token.name === 'numberValue' && isTooLong(token.value) ? { ...token, name: 'stringValue' } : token;
  const taking = Object.assign((token: Token) => take(asText(token)), take);
  return withParser.asStream(() => taking, { packKeys: true, jsonStreaming });
}

async function* readStream(
  parser: NodeJS.ReadWriteStream,
  texts: AsyncIterable<string>,
  otherwise: string,
  report: Report,
): AsyncGenerator<RawRow> {
  // An error of the text ends the parser with it.
  pipeline(Readable.from(texts), parser, () => {});
  let place = 0;
  try {
    for await (const { value } of parser as AsyncIterable<{ readonly value: unknown }>) {
      place += isObject(value) ? 0 : 1;
      for (const row of rowsIn(value, Math.max(place, 1), report)) {
        place += 1;
        yield { ...row, line: place };
      }
    }
  } catch (error) {
    if (error instanceof CommandError) throw error;
    report(null, otherwise);
  }
}

/** The rows in a value. An object is a row, or a page with rows. */
function* rowsIn(value: unknown, line: number, report: Report, included?: Included): Generator<RawRow> {
  if (Array.isArray(value)) {
    for (const one of value) yield* rowsIn(one, line, report, included);
    return;
  }
  if (!isObject(value)) {
    report(line, 'is not an object');
    return;
  }
  const inner = isRow(value) ? null : innerOf(value);
  if (inner !== null) yield* rowsIn(inner, line, report, readIncluded(value.included));
  else {
    const row = isObject(value.attributes) ? flatten(value, included) : value;
    yield { line, cells: cellsOf(row), written: Object.entries(row) };
  }
}

const isRow = (value: Readonly<Record<string, unknown>>): boolean =>
  'attributes' in value ||
  Object.entries(value).some(([name, key]) => /^(?:licen[cs]e)*[-_ ]*key$/i.test(name) && !isObject(key));

/** The rows of a page: its only list of objects, or the object that a known name wraps. Null for an object that is no page. */
function innerOf({ included: _, ...page }: Readonly<Record<string, unknown>>): unknown {
  const isList = ([name, value]: readonly [string, unknown]) =>
    Array.isArray(value) && value.every(isObject) && (value.length > 0 || ['data', 'items'].includes(name));
  const lists = Object.entries(page).filter(isList);
  if (lists.length === 1 && !('name' in page || 'email' in page)) return lists[0]?.[1];
  return wrappers.map((name) => page[name]).find(isObject) ?? null;
}

const wrappers = ['data', 'licenseKey', 'license_key', 'license', 'result', 'response'];

/** Members as cells. The members of an inner object become cells such as `customer.name`; metadata stays whole. */
const cellsOf = (object: Readonly<Record<string, unknown>>): RawRow['cells'] =>
  Object.entries(object).flatMap(([name, value]) =>
    isObject(value) && name !== 'metadata' && name !== 'features'
      ? Object.entries(value).map(([inner, of]) => [`${name}.${inner}`, of] as const)
      : [[name, value] as const],
  );
