import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { HttpRequest, HttpResponse } from '../http/messages.ts';
import { unlessKnown } from '../http/respond.ts';

const brotli = promisify(brotliCompress);

/** The codings of a document, the preferred one first, each with what makes it; most of them in 10 to 40 ms for 700 KB. */
const codings = {
  br: (text: string) => brotli(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } }),
  gzip: promisify(gzip) as (text: string) => Promise<Buffer>,
  identity: async (text: string) => Buffer.from(text),
};
type Coding = keyof typeof codings;

/**
 * Serves a text that is the same for everybody: made at its first request, and compressed at the first one for each coding.
 * A failure is not kept.
 */
export function staticPage(make: () => string | Promise<string>, headers: HttpResponse['headers']) {
  const made = new Map<Coding | 'text', Promise<unknown>>();
  async function once<T>(name: Coding | 'text', work: () => Promise<T>): Promise<T> {
    const promise = (made.get(name) as Promise<T> | undefined) ?? work();
    made.set(name, promise);
    return promise.catch((error: unknown) => {
      made.delete(name);
      throw error;
    });
  }
  return async (request: HttpRequest): Promise<HttpResponse> => {
    const coding = preferredCoding(request.headers.get('accept-encoding') ?? '');
    const { body, tag } = await once(coding, async () => {
      const body = await codings[coding](await once('text', async () => make()));
      return { body, tag: hash('sha256', body, 'base64url') };
    });
    const own = coding !== 'identity' && { 'Content-Encoding': coding };
    return unlessKnown(request, { status: 200, headers: { ...headers, ...own, Vary: 'Accept-Encoding' }, body }, tag);
  };
}

/** The coding that the caller likes best (RFC 9110 §12.5.3); of those that it likes alike, the first one. */
function preferredCoding(acceptEncoding: string): Coding {
  const weights = new Map(
    acceptEncoding.split(',').map((part) => {
      const [, name = '', q = '1'] = /^\s*([^\s;]*)\s*(?:;\s*q=([\d.]+))?/i.exec(part) ?? [];
      return [name.toLowerCase(), Number(q)];
    }),
  );
  const weightOf = (coding: Coding) => weights.get(coding) ?? (coding === 'identity' ? 1e-9 : (weights.get('*') ?? 0));
  return (Object.keys(codings) as Coding[]).reduce((best, next) => (weightOf(next) > weightOf(best) ? next : best));
}
