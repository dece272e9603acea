import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { HttpRequest, HttpResponse } from '../http/messages.ts';
import { unlessKnown } from '../http/respond.ts';

/**
 * Serves a text that is the same for everybody: made at its first request, plain and compressed. A failure is not kept.
 */
export function staticPage(make: () => string | Promise<string>, headers: HttpResponse['headers']) {
  let made: ReturnType<typeof prepare> | undefined;
  return async (request: HttpRequest): Promise<HttpResponse> => {
    made ??= prepare(make);
    const { plain, zipped } = await made.catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    const isZipped = takesGzip(request.headers.get('accept-encoding') ?? '');
    const { body, tag } = isZipped ? zipped : plain;
    const own = isZipped && { 'Content-Encoding': 'gzip' };
    return unlessKnown(request, { status: 200, headers: { ...headers, ...own, Vary: 'Accept-Encoding' }, body }, tag);
  };
}

async function prepare(make: () => string | Promise<string>) {
  const text = Buffer.from(await make());
  return { plain: tagged(text), zipped: tagged(await promisify(gzip)(text)) };
}

const tagged = (body: Buffer) => ({ body, tag: hash('sha256', body, 'base64url') });

/** Whether a caller takes gzip, by its name or by `*` (RFC 9110 §12.5.3). */
function takesGzip(acceptEncoding: string): boolean {
  const parts = acceptEncoding.split(',');
  const named = parts.find((part) => /^\s*gzip\b/i.test(part)) ?? parts.find((part) => /^\s*\*/.test(part));
  return named !== undefined && !/;\s*q=0(\.0*)?\s*$/i.test(named);
}
