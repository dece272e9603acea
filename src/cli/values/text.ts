import { UsageError } from '../failure/errors.ts';

/** White space of any kind, marks of direction and byte order, and other characters without a width. */
const BLANK = String.raw`[\s\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069]+`;
const ends = new RegExp(`^${BLANK}|${BLANK}$`, 'g');

/** A text without what nobody sees at its ends. */
export const trimmed = (text: string): string => text.replace(ends, '');

/**
 * Decodes text that comes in parts: as its byte order mark says, else in `encoding`, else in UTF-8. Throws `UsageError` for
 * bytes that are no such text, with their line.
 */
export function openDecoder(path: string, encoding = 'utf-8') {
  let decoder: InstanceType<typeof TextDecoder> | undefined;
  let start = Buffer.alloc(0);
  let line = 1;

  return (next: Uint8Array, isLast: boolean): string => {
    let part = next;
    if (decoder === undefined) {
      start = Buffer.concat([start, next]);
      if (start.length < 2 && !isLast) return '';
      decoder = new TextDecoder(markedEncoding(start) ?? encoding, { fatal: true });
      part = start;
    }
    let text: string;
    try {
      text = decoder.decode(part, { stream: !isLast });
    } catch (cause) {
      const loose = new TextDecoder(decoder.encoding).decode(part);
      throw undecodable(line + breaksIn(loose.replace(/\ufffd.*/s, '')), part.includes(0), cause);
    }
    if (text.includes('\0')) throw undecodable(line + breaksIn(text.replace(/\0.*/s, '')), true);
    line += breaksIn(text);
    return text;
  };

  function undecodable(at: number, hasZeros: boolean, cause?: unknown): UsageError {
    const name = decoder?.encoding.toUpperCase();
    const seen = hasZeros ? 'looks like UTF-16 without a byte order mark' : 'has other bytes';
    const way = hasZeros ? 'Name what it is: --encoding utf-16le' : 'Name what it is, such as --encoding windows-1252';
    return new UsageError(`${path} is not ${name} text: line ${at} ${seen}`, [`${way}; or save it as UTF-8.`], {
      cause,
    });
  }
}

const breaksIn = (text: string): number => text.match(/\r\n?|\n/g)?.length ?? 0;

function markedEncoding([first, second]: Uint8Array): string | undefined {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : undefined;
}

/** The name of an encoding as `TextDecoder` knows it. Throws `UsageError`. */
export function parseEncoding(name: string): string {
  try {
    return new TextDecoder(name).encoding;
  } catch (cause) {
    throw new UsageError(`'${name}' is no encoding such as windows-1252 or utf-16le`, [], { cause });
  }
}
