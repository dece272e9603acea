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
  const { createRequire, enableCompileCache } = process.getBuiltinModule('node:module');
  const { existsSync } = process.getBuiltinModule('node:fs');
  const { isAbsolute, join } = process.getBuiltinModule('node:path');
  // Stack traces then name the lines of the source.
  if (process.argv.includes('--debug') || process.env.LKM_DEBUG) process.setSourceMapsEnabled(true);
  // Not in the temporary folder, where another user could have put code before. A relative folder does not count: XDG
  // Base Directory Specification.
  const { LOCALAPPDATA, XDG_CACHE_HOME, HOME } = process.env;
  const cache = [LOCALAPPDATA, XDG_CACHE_HOME, HOME && join(HOME, '.cache')].find((path) => path && isAbsolute(path));
  if (cache) enableCompileCache(join(cache, 'lkm'));
  const main = join(import.meta.dirname, '../dist/cli/main.cjs');
  if (existsSync(main)) createRequire(main)(main);
  else {
    process.stderr.write('lkm is not built yet: npm run build\n');
    process.exitCode = 1;
  }
}
