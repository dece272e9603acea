import { createRequire, registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';

/*
 * Preloaded in front of a generator: TypeScript 7, which checks this project, has no JavaScript API yet, and generators
 * need it to print code. They get the earlier TypeScript that orval brings along.
 */

const ofOrval = createRequire(createRequire(import.meta.url).resolve('orval/package.json'));
const older = pathToFileURL(ofOrval.resolve('typescript')).href;

registerHooks({
  resolve: (specifier, context, next) => next(specifier === 'typescript' ? older : specifier, context),
});
