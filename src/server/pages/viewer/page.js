// Starts the viewer. It asks no other server for anything: no validator, no badge. In front of the responses of an
// operation it shows the samples of the document.

const Samples = (system) => {
  const { createElement: make, Fragment } = system.React;
  return {
    wrapComponents: {
      responses: (Responses) => (props) => {
        const samples = system.specSelectors.specJson().getIn(['paths', props.path, props.method, 'x-codeSamples']);
        const shown = samples
          ?.toJS()
          .map(({ label, source }) =>
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
  url: 'openapi.json',
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
