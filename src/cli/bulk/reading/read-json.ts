import { isObject } from './columns.ts';
import type { RawRow, RawRows } from './raw-rows.ts';

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
  let line = 0;
  for await (const written of elementsOf(texts)) {
    line += 1;
    const value = written === null ? undefined : parsed(written);
    if (value === undefined) {
      yield { line: null, text: 'it is not a JSON array' };
      return;
    }
    if (isObject(value)) yield { line, cells: cellsOf(value) };
    else yield { line, text: 'is not an object' };
  }
}

/** The texts of the elements of an array, not parsed; null for what is no array, and then no more. */
async function* elementsOf(texts: AsyncIterable<string>): AsyncGenerator<string | null> {
  /** How many brackets are open: 0 before the array and after it. */
  let depth = 0;
  let isInText = false;
  let isEscaped = false;
  let hasEnded = false;
  let count = 0;
  let element = '';
  for await (const text of texts) {
    let from = 0;
    for (let at = 0; at < text.length; at++) {
      const char = text[at];
      if (isInText) {
        if (isEscaped) isEscaped = false;
        else if (char === '\\') isEscaped = true;
        else if (char === '"') isInText = false;
      } else if (depth === 0) {
        if (char?.trim() === '') continue;
        if (char !== '[' || hasEnded) return yield null;
        depth = 1;
        from = at + 1;
      } else if (char === '"') isInText = true;
      else if (char === '[' || char === '{') depth += 1;
      else if (depth > 1 && (char === ']' || char === '}')) depth -= 1;
      else if (depth === 1 && (char === ',' || char === ']')) {
        element += text.slice(from, at);
        from = at + 1;
        if (char === ']') [depth, hasEnded] = [0, true];
        // An array may be empty; a comma has something before and behind it.
        if (char === ',' || count > 0 || element.trim() !== '') yield element;
        count += 1;
        element = '';
      }
    }
    if (depth > 0) element += text.slice(from);
  }
  if (!hasEnded) yield null;
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
