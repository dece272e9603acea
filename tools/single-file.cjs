// The command as one file, Node.js included: its scripts, and the code that was compiled when the file was made, lie in it.

const { getRawAsset, getAssetKeys } = require('node:sea');
const { run } = require('../bin/load.cjs');

// As bin/lkm.js does: Node.js warns on stderr when both are set.
delete process.env[process.env.NO_COLOR ? 'FORCE_COLOR' : 'NO_COLOR'];

const names = new Set(getAssetKeys());
run({
  filename: () => process.execPath,
  text: (name) => Buffer.from(getRawAsset(name)).toString(),
  code: (name) => (names.has(`${name}.code`) ? Buffer.from(getRawAsset(`${name}.code`)) : undefined),
});
