import { UsageError } from '../failure/errors.ts';

/** White space, marks of direction and byte order, and other characters without width. */
const BLANK = String.raw`[\s\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069]+`;
const ends = new RegExp(`^${BLANK}|${BLANK}$`, 'g');

/** Removes invisible characters at both ends. */
export const trimmed = (text: string): string => text.replace(ends, '');

interface Options {
  /** The encoding of text without a byte order mark; default UTF-8. */
  readonly encoding?: string | undefined;
  /** Whether to recognise UTF-16 and Windows-1252 by their bytes if no encoding is given. */
  readonly guesses?: boolean;
}

/**
 * Decodes text in parts: by its byte order mark, else in the given encoding. Throws `UsageError` with the line of
 * undecodable bytes.
 */
export function openDecoder(path: string, { encoding, guesses = false }: Options = {}) {
  let decoder: InstanceType<typeof TextDecoder> | undefined;
  let isMarked = false;
  /** The first bytes, later the bytes of an incomplete character. */
  let held = Buffer.alloc(0);
  let line = 1;
  let isAscii = true;
  let guessed: string | null = null;

  function begin(start: Buffer): InstanceType<typeof TextDecoder> {
    if (archive.test(start.toString('hex'))) {
      throw new UsageError(`${path} is a workbook or another archive, and no text`, ['Save it as CSV (UTF-8).']);
    }
    const marked = markedEncoding(start);
    isMarked = marked !== null;
    if (marked === null && encoding === undefined && guesses) guessed = utf16Without(start);
    return new TextDecoder(marked ?? guessed ?? encoding ?? 'utf-8', { fatal: true });
  }

  function decode(next: Uint8Array, isLast: boolean): string {
    let part = Buffer.from(next);
    if (decoder === undefined) {
      part = Buffer.concat([held, part]);
      if (part.length < START_BYTES && !isLast) {
        held = part;
        return '';
      }
      held = Buffer.alloc(0);
      decoder = begin(part);
    }
    const text = tryToDecode(part, isLast);
    if (text.includes('\0')) throw undecodable(text.replace(/\0.*/s, ''), true);
    if (guessed === WINDOWS && !isWestern(text)) throw undecodable(text.replace(/[^\0-\x7f].*/s, ''), false);
    line += breaksIn(text);
    isAscii &&= /^[\0-\x7f]*$/.test(text);
    return text;
  }

  function tryToDecode(part: Buffer, isLast: boolean): string {
    const bytes = Buffer.concat([held, part]);
    held = bytes.subarray(bytes.findLastIndex((byte) => byte < 0x80) + 1);
    try {
      return decoder?.decode(part, { stream: !isLast }) ?? '';
    } catch (cause) {
      const isOpen = guesses && encoding === undefined && !isMarked && guessed === null && isAscii;
      const windows = new TextDecoder(WINDOWS);
      if (isOpen && !bytes.includes(0) && isWestern(windows.decode(bytes))) {
        guessed = WINDOWS;
        decoder = windows;
        return windows.decode(bytes);
      }
      const loose = new TextDecoder(decoder?.encoding).decode(part);
      throw undecodable(loose.replace(/\ufffd.*/s, ''), part.includes(0), cause);
    }
  }

  function undecodable(before: string, hasZeros: boolean, cause?: unknown): UsageError {
    const name = (guessed === WINDOWS ? 'utf-8' : decoder?.encoding)?.toUpperCase();
    const place = `${path} is not ${name} text: line ${line + breaksIn(before)}`;
    // In a file whose encoding is known a NUL is a mistake, or a sign of UTF-32.
    if (hasZeros && (isMarked || encoding !== undefined || guessed !== null)) {
      return new UsageError(`${place} has a NUL character`, ['Save it as UTF-8, without such characters.'], { cause });
    }
    const seen = hasZeros ? 'has a NUL character; it looks like UTF-16 without a byte order mark' : 'has other bytes';
    const way = hasZeros
      ? 'Name the encoding, --encoding utf-16le, or take the character out'
      : 'Name the encoding, such as --encoding windows-1252';
    return new UsageError(`${place} ${seen}`, [guesses ? `${way}; or save it as UTF-8.` : 'Save it as UTF-8.'], {
      cause,
    });
  }

  return {
    decode,
    /** The encoding that was recognised by bytes; otherwise null. */
    guessed: (): string | null => guessed,
    /** Whether the text needs a byte order mark to be read as UTF-8 by other programs. */
    needsMark: (): boolean => isMarked || guessed !== null || (encoding ?? 'utf-8') !== 'utf-8',
  };
}

const START_BYTES = 4;

/** How files begin, in hexadecimal: xlsx and zip, gzip, xls. */
const archive = /^(?:504b0304|1f8b|d0cf11e0)/;

const WINDOWS = 'windows-1252';

const breaksIn = (text: string): number => text.match(/\r\n?|\n/g)?.length ?? 0;

function markedEncoding([first, second, third]: Uint8Array): string | null {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  return first === 0xef && second === 0xbb && third === 0xbf ? 'utf-8' : null;
}

/** UTF-16 without a mark, beginning with two ASCII characters: other encodings have no zero bytes. */
function utf16Without([a, b, c, d]: Uint8Array): string | null {
  if (a !== 0 && b === 0 && c !== 0 && d === 0) return 'utf-16le';
  return a === 0 && b !== 0 && c === 0 && d !== 0 ? 'utf-16be' : null;
}

/**
 * Whether text decoded as Windows-1252 can be nothing else: western letters, never three in a row as in Cyrillic or Greek,
 * and no signs between letters as from DOS or Macintosh.
 */
const isWestern = (text: string): boolean =>
  /^[\0-\x7f\u00a0¡£§©«®°´·»¿À-ÁÄ-ÏÑ-ÖØ-ÜßÀàáâäåæçèéêëìíîïñòóôöøùúûüÿŒœ€‚„“”‘’–—•…™]*$/.test(text) &&
  !/[^\0-\x7f€‚„“”‘’–—•…™]{3}|\p{L}[€‚„“”‘–—•…™]\p{L}/u.test(text);

/** Throws `UsageError` for an unknown encoding. */
export function parseEncoding(name: string): string {
  try {
    return new TextDecoder(name).encoding;
  } catch (cause) {
    throw new UsageError(`'${name}' is no encoding such as windows-1252 or utf-16le`, [], { cause });
  }
}
