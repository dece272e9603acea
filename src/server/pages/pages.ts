import { readFile } from 'node:fs/promises';
import { findPackageJSON } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { getAsset, isSea } from 'node:sea';
import { apiError } from '../../contract/errors.ts';
import { apiVersion } from '../../contract/index.ts';
import type { HttpRequest, HttpResponse } from '../http/messages.ts';
import { refusal } from '../http/respond.ts';

/** What the build puts into the package, and into the single file, for these pages. */
const viewerFiles = ['page.css', 'page.js', 'swagger-ui.css', 'swagger-ui-bundle.js'];

/**
 * Pages that hold nothing of any account: no token is asked for. Paths in them are relative: a proxy may serve all of this
 * below a path of its own.
 */
export const pages: readonly { readonly path: string; get(request: HttpRequest): Promise<HttpResponse> }[] = [
  ...['/', '/docs'].map((path) => ({ path, get: async () => text(referencePage, 'text/html', PAGE_HEADERS) })),
  ...viewerFiles.map((name) => ({ path: `/docs/${name}`, get: () => viewerFile(name) })),
];

/** The reference page: the viewer, and what it shows without scripts. */
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
 * Everything comes from this server, and nothing is inline: text of the document that a browser takes for a script does
 * not run. No page may show this one in a frame, and links from it send no referrer.
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

const text = (body: string, type: string, more: HttpResponse['headers'] = {}): HttpResponse => ({
  status: 200,
  headers: {
    'Content-Type': `${type}; charset=utf-8`,
    'Cache-Control': 'no-cache',
    'X-Content-Type-Options': 'nosniff',
    ...more,
  },
  body,
});

async function viewerFile(name: string): Promise<HttpResponse> {
  const type = extname(name) === '.css' ? 'text/css' : 'text/javascript';
  const folder = join(dirname(findPackageJSON(import.meta.url) ?? '.'), 'dist/viewer');
  try {
    return text(isSea() ? getAsset(`viewer/${name}`, 'utf8') : await readFile(join(folder, name), 'utf8'), type);
  } catch (error) {
    // A checkout that was not built.
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return refusal(apiError('routeNotFound'));
    throw error;
  }
}
