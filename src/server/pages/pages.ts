import { readFile } from 'node:fs/promises';
import { findPackageJSON } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { getAsset, isSea } from 'node:sea';
import { apiError } from '../../contract/errors.ts';
import { apiVersion } from '../../contract/index.ts';
import type { HttpRequest, HttpResponse } from '../http/messages.ts';
import { refusal } from '../http/respond.ts';
import { indexPage, indexText, referencePage } from './content.ts';

/** What the build puts into the package, and into the single file, for these pages. */
const viewerFiles = ['page.css', 'page.js', 'swagger-ui.css', 'swagger-ui-bundle.js'];

/** Pages that hold nothing of any account: no token is asked for. */
export const pages: readonly { readonly path: string; get(request: HttpRequest): Promise<HttpResponse> }[] = [
  {
    path: '/',
    get: async ({ headers }) => {
      const accepted = prefersHtml(headers.get('accept'))
        ? html(indexPage(apiVersion))
        : text(indexText(apiVersion), 'text/plain');
      return { ...accepted, headers: { ...accepted.headers, Vary: 'Accept' } };
    },
  },
  { path: '/docs', get: async () => html(referencePage(apiVersion)) },
  ...viewerFiles.map((name) => ({ path: `/docs/${name}`, get: () => viewerFile(name) })),
];

/** A browser names HTML first; a program takes anything, or JSON. */
const prefersHtml = (accept: string | null): boolean => accept?.includes('text/html') ?? false;

/**
 * Everything comes from this server, and nothing is inline: a text of the document that were taken for a script would
 * not run. No other page may show this one in a frame, and it names itself to no other.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

function html(body: string): HttpResponse {
  const page = text(body, 'text/html');
  return {
    ...page,
    headers: { ...page.headers, 'Content-Security-Policy': POLICY, 'Referrer-Policy': 'no-referrer' },
  };
}

function text(body: string, type: string): HttpResponse {
  const headers = {
    'Content-Type': `${type}; charset=utf-8`,
    'Cache-Control': 'no-cache',
    'X-Content-Type-Options': 'nosniff',
  };
  return { status: 200, headers, body };
}

async function viewerFile(name: string): Promise<HttpResponse> {
  const type = extname(name) === '.css' ? 'text/css' : 'text/javascript';
  try {
    return text(
      isSea() ? getAsset(`viewer/${name}`, 'utf8') : await readFile(join(viewerFolder(), name), 'utf8'),
      type,
    );
  } catch (error) {
    // A checkout that was not built.
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return refusal(apiError('routeNotFound'));
    throw error;
  }
}

const viewerFolder = (): string => join(dirname(findPackageJSON(import.meta.url) ?? '.'), 'dist/viewer');
