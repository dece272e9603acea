// Runs the command with the code that V8 has already compiled for it. Node.js keeps such code too, but of each file only
// what V8 compiles at once: not the functions that run later, which are most. Decision 0094.

const {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} = require('node:fs');
const { join } = require('node:path');
const { Script } = require('node:vm');

/**
 * Runs the command from the files of the package.
 *
 * @param {string} dist the folder of its scripts
 * @param {string} folder where their compiled code is kept; it is made
 */
exports.load = (dist, folder) => {
  const isTrusted = prepare(folder);
  const placeOf = (name) => join(folder, name.slice(name.lastIndexOf('/') + 1));
  const scripts = exports.run({
    filename: (name) => join(dist, name),
    text: (name) => readText(join(dist, name)),
    code: (name) => (isTrusted ? readCode(placeOf(name)) : undefined),
  });
  // Each command has a file of its own: what it is the first to run is added to the code of the others.
  process.on('exit', () => {
    if (isTrusted && scripts.some(({ script }) => script.cachedDataRejected !== false)) keep(scripts, placeOf);
  });
};

/** What makes a function of a script. */
const [HEAD, TAIL] = [Buffer.from('(function (exports, require, module, __filename) {'), Buffer.from('\n})')];

/** The text of a script as that of a function. */
exports.functionOf = (text) => Buffer.concat([HEAD, text, TAIL]);

/**
 * Runs the command, and returns the scripts that it has loaded; the list grows. Scripts are named by their paths in `dist`.
 * Only those of `bundle` have compiled code: their names hold a hash, so that the code of another version is not taken.
 *
 * @param files what a script is called in a stack trace, its text as a function, and its compiled code, which is used
 * before the next call
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
    const text = files.text(name);
    const script = new Script(text, { filename, cachedData: isNamedByHash ? files.code(name) : undefined });
    if (isNamedByHash) scripts.push({ name, script });
    const requireFrom = (id) => {
      // `node:path` would take a millisecond for the paths of a command.
      if (id.startsWith('../')) return load(id.slice(3));
      if (id.startsWith('./')) return load(`bundle/${id.slice(2)}`);
      return process.getBuiltinModule(id) ?? require(id);
    };
    script.runInThisContext()(module.exports, requireFrom, module, filename);
    return module.exports;
  }

  // Nothing is left to do then: V8 need not free its memory piece by piece.
  process.once('beforeExit', () => process.exit());
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

/** Where files are read to, one after the other: the system takes time for memory that is used for the first time. */
let space = Buffer.allocUnsafeSlow(1024 * 1024);

/** Reads a file into the space, with room around it, and returns its size. */
function read(file, { before = 0, after = 0 } = {}) {
  const fd = openSync(file);
  try {
    const { size } = fstatSync(fd);
    if (before + size + after > space.length) space = Buffer.allocUnsafeSlow(before + size + after);
    let length = 0;
    for (let more = -1; more !== 0 && length < size; length += more) {
      more = readSync(fd, space, before + length, size - length, null);
    }
    return length;
  } finally {
    closeSync(fd);
  }
}

/** Not joined of texts: V8 would keep the parts of it, and copy them into one more. */
function readText(file) {
  const end = HEAD.length + read(file, { before: HEAD.length, after: TAIL.length });
  HEAD.copy(space);
  TAIL.copy(space, end);
  return space.toString('utf8', 0, end + TAIL.length);
}

/**
 * V8 looks only at the head of such code, and crashes on a damaged one: so a file holds the code twice. Two copies are
 * compared in a tenth of the time that a check sum takes here: node:zlib, which has one, takes longer to load.
 */
function readCode(file) {
  try {
    const size = read(file);
    const code = space.subarray(0, size / 2);
    return code.equals(space.subarray(code.length, size)) ? code : undefined;
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
