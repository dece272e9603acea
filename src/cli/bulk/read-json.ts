import { pipeline, Readable } from 'node:stream';
import { CommandError } from '../failure/errors.ts';
import { isObject } from './columns.ts';
import type { RawRow, Report } from './raw-row.ts';

export async function* readJsonLines(texts: AsyncIterable<string>, report: Report): AsyncGenerator<RawRow> {
  let line = 0;
  for await (const text of linesOf(texts)) {
    line += 1;
    if (text.trim() === '') continue;
    try {
      const value: unknown = JSON.parse(text);
      if (isObject(value)) yield { line, cells: cellsOf(value), written: Object.entries(value) };
      else report(line, 'is not an object');
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      report(line, 'is not JSON');
    }
  }
}

async function* linesOf(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = '';
  for await (const text of texts) {
    // A carriage return at the end of what came may be half of a line end.
    const lines = (rest + text).split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? '';
    yield* lines;
  }
  yield rest;
}

export async function* readJson(texts: AsyncIterable<string>, report: Report): AsyncGenerator<RawRow> {
  const { default: streamArray } = await import('stream-json/streamers/stream-array.js');
  const parser = streamArray.withParserAsStream();
  // An error of the text ends the parser with it.
  pipeline(Readable.from(texts), parser, () => {});
  try {
    for await (const { key, value } of parser as AsyncIterable<{ readonly key: number; readonly value: unknown }>) {
      if (isObject(value)) yield { line: key + 1, cells: cellsOf(value), written: Object.entries(value) };
      else report(key + 1, 'is not an object');
    }
  } catch (error) {
    if (error instanceof CommandError) throw error;
    report(null, 'it is not a JSON array');
  }
}

/** Members as cells. What is inside of an object has a name of its own, as `customer.name`; metadata stays whole. */
const cellsOf = (object: Readonly<Record<string, unknown>>): RawRow['cells'] =>
  Object.entries(object).flatMap(([name, value]) =>
    isObject(value) && name !== 'metadata' && name !== 'features'
      ? Object.entries(value).map(([inner, of]) => [`${name}.${inner}`, of] as const)
      : [[name, value] as const],
  );
