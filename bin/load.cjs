// Runs the command with the code that V8 has already compiled for it. Node.js keeps such code too, but of each file only
// what V8 compiles at once: not the functions that run later, which are most. Decision 0094.

const { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } = require('node:fs');
const { join, posix } = require('node:path');
const { Script } = require('node:vm');

/**
 * Runs the command from the files of the package.
 *
 * @param {string} dist the folder of its scripts
 * @param {string} folder where their compiled code is kept; it is made
 */
exports.load = (dist, folder) => {
  const isTrusted = prepare(folder);
  const placeOf = (name) => join(folder, posix.basename(name));
  const scripts = exports.run({
    filename: (name) => join(dist, name),
    source: (name) => readFileSync(join(dist, name)),
    code: (name) => (isTrusted ? readCode(placeOf(name)) : undefined),
  });
  // Each command has a file of its own: what it is the first to run is added to the code of the others.
  process.on('exit', () => {
    if (isTrusted && scripts.some(({ script }) => script.cachedDataRejected !== false)) keep(scripts, placeOf);
  });
};

/** What makes a function of a script. */
const [HEAD, TAIL] = [Buffer.from('(function (exports, require, module, __filename) {'), Buffer.from('\n})')];

/**
 * A script as a function, with its compiled code where there is some.
 *
 * @param bytes its text
 */
exports.compile = (bytes, filename, cachedData) =>
  // Joined as bytes: V8 would keep the parts of a joined text, and copy them into one more.
  new Script(Buffer.concat([HEAD, bytes, TAIL]).toString(), { filename, cachedData });

/**
 * Runs the command, and returns the scripts that it has loaded; the list grows. Scripts are named by their paths in `dist`.
 * Only those of `bundle` have compiled code: their names hold a hash, so that the code of another version is not taken.
 *
 * @param files what a script is called in a stack trace, the bytes of its text, and its compiled code
 */
exports.run = (files) => {
  const modules = new Map();
  const scripts = [];

  function load(name) {
    const loaded = modules.get(name);
    if (loaded !== undefined) return loaded.exports;
    const module = { exports: {} };
    modules.set(name, module);
    const filename = files.filename(name);
    const isNamedByHash = name.startsWith('bundle/');
    const script = exports.compile(files.source(name), filename, isNamedByHash ? files.code(name) : undefined);
    if (isNamedByHash) scripts.push({ name, script });
    const requireFrom = (id) => {
      if (id.startsWith('.')) return load(posix.join(posix.dirname(name), id));
      return process.getBuiltinModule(id) ?? require(id);
    };
    script.runInThisContext()(module.exports, requireFrom, module, filename);
    return module.exports;
  }

  load('cli/main.cjs');
  return scripts;
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

/**
 * V8 looks only at the head of such code, and crashes on a damaged one: so a file holds the code twice. Two copies are
 * compared in a tenth of the time that a check sum takes here: node:zlib, which has one, takes longer to load.
 */
function readCode(file) {
  try {
    const bytes = readFileSync(file);
    const code = bytes.subarray(0, bytes.length / 2);
    return code.equals(bytes.subarray(code.length)) ? code : undefined;
  } catch {
    return undefined;
  }
}

/** Without it, commands only start more slowly. */
function keep(scripts, placeOf) {
  for (const { name, script } of scripts) {
    const draft = `${placeOf(name)}.${process.pid}`;
    try {
      const code = script.createCachedData();
      writeFileSync(draft, Buffer.concat([code, code]), { mode: 0o600 });
      renameSync(draft, placeOf(name));
    } catch {
      rmSync(draft, { force: true });
    }
  }
}
