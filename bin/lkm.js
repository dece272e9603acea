#!/usr/bin/env node
// No import and no syntax newer than Node.js 12 before the check, so that an old one gets a sentence to act on.
const [major, minor] = process.versions.node.split('.').map(Number);

if (major < 24 || (major === 24 && minor < 15)) {
  process.stderr.write(
    `lkm needs Node.js 24.15 or newer; this is v${process.versions.node}. ` +
      'Install it, or run it through npm in the checkout: npx lkm\n',
  );
  process.exitCode = 1;
} else {
  // Node.js warns on stderr when both are set, beside an error in JSON. NO_COLOR counts, unless it is empty.
  delete process.env[process.env.NO_COLOR ? 'FORCE_COLOR' : 'NO_COLOR'];
  // An import of one of Node's own modules would read all of its exports, which takes longer.
  const builtin = process.getBuiltinModule;
  const load = builtin('node:module').createRequire(import.meta.url);
  // Stack traces then name the lines of the source, which only Node.js itself can do.
  const isDebugged = process.argv.includes('--debug') || process.env.LKM_DEBUG;
  if (isDebugged) process.setSourceMapsEnabled(true);
  // Not in the temporary folder, where another user could have put code before.
  const { LOCALAPPDATA, XDG_CACHE_HOME, HOME } = process.env;
  const { existsSync } = builtin('node:fs');
  const { isAbsolute, join } = builtin('node:path');
  // A relative one does not count: XDG Base Directory Specification.
  const caches = [LOCALAPPDATA, XDG_CACHE_HOME, HOME && `${HOME}/.cache`].find((path) => path && isAbsolute(path));
  const dist = join(import.meta.dirname, '../dist');
  const main = join(dist, 'cli/main.cjs');
  if (!existsSync(main)) {
    process.stderr.write('lkm is not built yet: npm run build\n');
    process.exitCode = 1;
  } else if (!caches || isDebugged) load(main);
  else load('./load.cjs').load(dist, `${caches}/lkm/${process.version}-${process.arch}`);
}
