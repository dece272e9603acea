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

const page = (title: string, body: string, head = ''): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="data:,">
${head}<link rel="stylesheet" href="/docs/page.css">
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
${places.map(([path, name, about]) => `<dt><a href="${path}">${name}</a></dt><dd>${about}</dd>`).join('\n')}
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
    `<header><a href="/">lkm</a> <span>API reference · <span class="version">${version}</span></span> <a href="/openapi.json">openapi.json</a></header>
<div id="reference"><noscript><main><p>This page needs scripts. The document is at <a href="/openapi.json">/openapi.json</a>.</p></main></noscript></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/page.js"></script>`,
    '<link rel="stylesheet" href="/docs/swagger-ui.css">\n',
  );

/**
 * Starts the viewer. It asks no other server for anything: no validator, no badge. In front of the responses of an
 * operation it shows the samples of the document.
 */
export const pageScript = `const Samples = (system) => {
  const { createElement: make, Fragment } = system.React;
  return {
    wrapComponents: {
      responses: (Responses) => (props) => {
        const samples = system.specSelectors.specJson().getIn(['paths', props.path, props.method, 'x-codeSamples']);
        const shown = samples?.toJS().map(({ label, source }) =>
          make(Fragment, { key: label }, make('h5', null, label), make('pre', { tabIndex: 0 }, source)),
        );
        return make(
          Fragment,
          null,
          shown && make('div', { className: 'opblock-section-header' }, make('h4', null, 'Examples')),
          shown && make('div', { className: 'samples' }, shown),
          make(Responses, props),
        );
      },
    },
  };
};

const dark = matchMedia('(prefers-color-scheme: dark)');
const apply = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', apply);
apply();
SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  filter: true,
  persistAuthorization: false,
  plugins: [Samples],
  requestSnippetsEnabled: true,
  validatorUrl: null,
});
`;

/** Both pages, in light and dark, down to the width of a phone. */
export const pageStyle = `:root { color-scheme: light dark; --line: #d5d9e0; --ink: #1d2330; --paper: #fff; --soft: #566074; --link: #1a56b8; }
@media (prefers-color-scheme: dark) {
  :root { --line: #3a4150; --ink: #e6e9ef; --paper: #1c2022; --soft: #aab3c2; --link: #8ab4f8; }
}
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
a { color: var(--link); }
body > main, noscript main { max-width: 44rem; margin: 0 auto; padding: 2rem 1.25rem; }
h1 { margin: 0; font-size: 2rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .5rem 1.5rem; margin: 1.5rem 0; }
dd { margin: 0; color: var(--soft); }
pre { overflow-x: auto; padding: .9rem 1rem; border: 1px solid var(--line); border-radius: 6px; font-size: .875rem; }
.swagger-ui .samples { padding: .25rem 1.25rem 1rem; }
.swagger-ui .samples h5 { margin: .75rem 0 .25rem; font: 600 .8rem/1.4 system-ui, sans-serif; color: var(--soft); }
.swagger-ui .samples pre { margin: 0; background: transparent; color: var(--ink); border-color: var(--line); white-space: pre; }
body > header { display: flex; flex-wrap: wrap; gap: .25rem 1rem; align-items: baseline; padding: .75rem 1.25rem; border-bottom: 1px solid var(--line); }
body > header a:first-child { font-weight: 700; font-size: 1.15rem; text-decoration: none; }
body > header span { flex: 1; color: var(--soft); }
.version { white-space: nowrap; }
@media (max-width: 40rem) {
  dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: .75rem; }
  .swagger-ui .wrapper { padding: 0 .75rem; }
  .swagger-ui .scheme-container { padding: .75rem 0; }
  .swagger-ui .opblock .opblock-summary-description { flex-basis: 100%; padding: 0 .5rem .5rem; }
  .swagger-ui .opblock .opblock-summary { flex-wrap: wrap; }
  .swagger-ui .opblock .opblock-summary-path { max-width: none; }
  .swagger-ui table { display: block; overflow-x: auto; }
}
`;
