// Loads the command with the code that V8 has already compiled for it. Node.js keeps such code too, but of each file only
// what V8 compiles at once: not the functions that run later, which are most. Decision 0094.

const { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } = require('node:fs');
const { basename, dirname, join } = require('node:path');
const { Script } = require('node:vm');
const { crc32 } = require('node:zlib');

/**
 * Runs a file of the package, and those that it requires.
 *
 * @param {string} main the file
 * @param {string} folder where compiled code is kept; it is made
 */
module.exports = function load(main, folder) {
  const loaded = new Map();
  const scripts = [];
  let isNew = false;
  const isTrusted = prepare(folder);

  function requireFile(file) {
    const known = loaded.get(file);
    if (known !== undefined) return known.exports;
    const module = { exports: {} };
    loaded.set(file, module);
    const source = `(function (exports, require, module, __filename, __dirname) {${readFileSync(file, 'utf8')}\n})`;
    // A name in `bundle` holds a hash of what is in the file, so that code of another version is not taken for it.
    const kept = isTrusted && basename(dirname(file)) === 'bundle' ? join(folder, basename(file)) : undefined;
    const script = new Script(source, { filename: file, cachedData: kept && readKept(kept) });
    if (kept !== undefined) scripts.push({ script, kept });
    isNew ||= kept !== undefined && script.cachedDataRejected !== false;
    const requireFrom = (id) => {
      if (id.startsWith('.')) return requireFile(join(dirname(file), id));
      return process.getBuiltinModule(id) ?? require(id);
    };
    script.runInThisContext()(module.exports, requireFrom, module, file, dirname(file));
    return module.exports;
  }

  // Each command has a file of its own: what it is the first to run is added to the code of the others.
  process.on('exit', () => {
    if (isNew) keep(scripts);
  });
  return requireFile(main);
};

/** Makes the folder; whether nobody else can have put code there. */
function prepare(folder) {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const { uid, mode } = statSync(folder);
    return process.geteuid === undefined || (uid === process.geteuid() && (mode & 0o022) === 0);
  } catch {
    return false;
  }
}

const SUM_BYTES = 4;

/** V8 looks only at the head of such code, and crashes on a damaged one: so a check sum stands behind it. */
function readKept(file) {
  try {
    const bytes = readFileSync(file);
    const code = bytes.subarray(0, -SUM_BYTES);
    return crc32(code) === bytes.readUInt32LE(code.length) ? code : undefined;
  } catch {
    return undefined;
  }
}

/** Without it, commands only start more slowly. */
function keep(scripts) {
  for (const { script, kept } of scripts) {
    const draft = `${kept}.${process.pid}`;
    try {
      const code = script.createCachedData();
      const sum = Buffer.alloc(SUM_BYTES);
      sum.writeUInt32LE(crc32(code));
      writeFileSync(draft, Buffer.concat([code, sum]), { mode: 0o600 });
      renameSync(draft, kept);
    } catch {
      rmSync(draft, { force: true });
    }
  }
}
