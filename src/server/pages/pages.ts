import { readFile } from 'node:fs/promises';
import { findPackageJSON } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { getAsset, isSea } from 'node:sea';
import { apiError } from '../../contract/errors.ts';
import { apiVersion } from '../../contract/index.ts';
import type { HttpRequest, HttpResponse } from '../http/messages.ts';
import { JSON_TYPE, refusal } from '../http/respond.ts';
import { staticPage } from './static.ts';

/** The files for these pages that the build puts into the package and into the single file. */
const viewerFiles = ['page.css', 'page.js', 'swagger-ui.css', 'swagger-ui-bundle.js'];

/**
 * Pages without data of an account, which need no token. Their links are relative, since a proxy may serve them below another path.
 */
export const createPages = (): { readonly path: string; get(request: HttpRequest): Promise<HttpResponse> }[] => [
  // Made on first use: it takes 40 ms.
  { path: '/openapi.json', get: staticPage(printOpenApi, headersFor(JSON_TYPE)) },
  ...['/', '/docs'].map((path) => ({
    path,
    get: staticPage(() => referencePage, headersFor('text/html', PAGE_HEADERS)),
  })),
  ...viewerFiles.map((name) => ({ path: `/docs/${name}`, get: viewerFile(name) })),
];

async function printOpenApi(): Promise<string> {
  const { toOpenApi } = await import('../../contract/openapi/openapi.ts');
  return JSON.stringify(toOpenApi());
}

/** The reference page: the viewer, and the content for browsers without scripts. */
const referencePage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>lkm: API reference</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="docs/swagger-ui.css">
<link rel="stylesheet" href="docs/page.css">
</head>
<body>
<header><span>lkm: API reference · <span class="version">${apiVersion}</span></span> <a href="openapi.json">openapi.json</a></header>
<div id="reference"><noscript><main><p>This page needs scripts. The document is at <a href="openapi.json">openapi.json</a>.</p></main></noscript></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/page.js"></script>
</body>
</html>
`;

/**
 * Everything comes from this server and nothing is inline, so that a script in a text of the document does not run. No other page may
 * show this page in a frame, and its links send no referrer.
 */
const PAGE_HEADERS = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'Referrer-Policy': 'no-referrer',
};

const headersFor = (type: string, more: HttpResponse['headers'] = {}): HttpResponse['headers'] => ({
  'Content-Type': type === JSON_TYPE ? type : `${type}; charset=utf-8`,
  'Cache-Control': 'no-cache',
  'X-Content-Type-Options': 'nosniff',
  ...more,
});

function viewerFile(name: string) {
  const type = extname(name) === '.css' ? 'text/css' : 'text/javascript';
  const path = join(dirname(findPackageJSON(import.meta.url) ?? '.'), 'dist/viewer', name);
  const get = staticPage(
    () => (isSea() ? getAsset(`viewer/${name}`, 'utf8') : readFile(path, 'utf8')),
    headersFor(type),
  );
  return async (request: HttpRequest): Promise<HttpResponse> => {
    try {
      return await get(request);
    } catch (error) {
      // The checkout was not built.
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT')
        return refusal(apiError('routeNotFound'));
      throw error;
    }
  };
}
