import { CommandError } from '../../failure/errors.ts';
import { isObject, type RawRow, type RawRows } from './columns.ts';

/** Reads an object from each line. */
export async function* readJsonLines(texts: AsyncIterable<string>): RawRows {
  let line = 0;
  for await (const written of linesOf(texts)) {
    line += 1;
    if (written.trim() === '') continue;
    const value = parsed(written);
    if (isObject(value)) yield { line, cells: cellsOf(value) };
    else yield { line, text: value === undefined ? 'is not JSON' : 'is not an object' };
  }
}

async function* linesOf(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = '';
  for await (const text of texts) {
    const [first = '', ...others] = text.split('\n');
    rest += first;
    for (const line of others) {
      yield rest;
      rest = line;
    }
  }
  yield rest;
}

/** Reads an array of objects. Their place in it stands for the line. */
export async function* readJson(texts: AsyncIterable<string>): RawRows {
  const { default: streamArray } = await import('stream-json/streamers/stream-array.js');
  const { pipeline, Readable } = await import('node:stream');
  const parser = streamArray.withParserAsStream();
  // An error of the text ends the parser with it.
  pipeline(Readable.from(texts), parser, () => {});
  const elements: AsyncIterable<{ readonly key: number; readonly value: unknown }> = parser;
  try {
    for await (const { key, value } of elements) {
      if (isObject(value)) yield { line: key + 1, cells: cellsOf(value) };
      else yield { line: key + 1, text: 'is not an object' };
    }
  } catch (error) {
    if (error instanceof CommandError) throw error;
    yield { line: null, text: 'it is not a JSON array' };
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Members as cells. What is inside of an object has a name of its own, as `customer.name`; metadata stays whole. */
const cellsOf = (object: Readonly<Record<string, unknown>>): RawRow['cells'] =>
  Object.entries(object).flatMap(([name, value]) =>
    isObject(value) && name !== 'metadata' && name !== 'features'
      ? Object.entries(value).map(([inner, of]) => [`${name}.${inner}`, of] as const)
      : [[name, value] as const],
  );
