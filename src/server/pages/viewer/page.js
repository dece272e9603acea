// Starts the viewer. It asks no other server for anything: no validator, no badge.

const dark = matchMedia('(prefers-color-scheme: dark)');
const apply = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', apply);
apply();
SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  filter: true,
  persistAuthorization: false,
  requestSnippetsEnabled: true,
  validatorUrl: null,
});
