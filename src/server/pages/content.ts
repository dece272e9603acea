/** Where to go on from `/`, with what is there. */
const places = [
  ['/docs', 'reference', 'every operation, its errors and examples; try them with a token'],
  ['/openapi.json', 'OpenAPI', 'the same as a document, for tools and generated clients'],
  ['/.well-known/jwks.json', 'public keys', 'which verify licence files without a network'],
  ['/.well-known/revocations', 'revocations', 'the signed list of revoked licence files'],
  ['/ready', 'ready', 'whether it can serve; /health, whether it runs'],
] as const;

/** What `GET /` says to a program. */
export const indexText = (version: string): string =>
  [
    `lkm: a licence key service, API version ${version}`,
    '',
    ...places.map(([path, name, about]) => `${name.padEnd(12)}${path.padEnd(26)}${about}`),
    '',
    'Requests carry a token:   curl -H "Authorization: Bearer $TOKEN" …/token/self',
    'The command does as well: lkm login --base-url …',
    '',
  ].join('\n');

// Paths are relative: a proxy may serve all of this below a path of its own.
const page = (title: string, body: string, head = ''): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="data:,">
${head}<link rel="stylesheet" href="docs/page.css">
</head>
<body>
${body}
</body>
</html>
`;

/** What `GET /` says in a browser. */
export const indexPage = (version: string): string =>
  page(
    'lkm: licence keys',
    `<main>
<h1>lkm</h1>
<p>A licence key service. API version <span class="version">${version}</span>.</p>
<dl>
${places.map(([path, name, about]) => `<dt><a href="${path.slice(1)}">${name}</a></dt><dd>${about}</dd>`).join('\n')}
</dl>
<p>Requests carry a token, which whoever runs this service gives out:</p>
<pre><code>curl -H "Authorization: Bearer $TOKEN" …/token/self
lkm login --base-url …</code></pre>
</main>`,
  );

/** The reference page: the viewer, and what it shows without scripts. */
export const referencePage = (version: string): string =>
  page(
    'lkm: API reference',
    `<header><a href="./">lkm</a> <span>API reference · <span class="version">${version}</span></span> <a href="openapi.json">openapi.json</a></header>
<div id="reference"><noscript><main><p>This page needs scripts. The document is at <a href="openapi.json">openapi.json</a>.</p></main></noscript></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/page.js"></script>`,
    '<link rel="stylesheet" href="docs/swagger-ui.css">\n',
  );
