import { command } from '../command.ts';
import { version } from '../version.ts';

export const versionCommand = command({
  path: 'version',
  about: 'Shows the versions of lkm, of Node.js, and of the contract they speak.',
  arguments: {},
  options: {},
  fields: [{ name: 'lkm' }, { name: 'node' }, { name: 'contract' }],
  examples: [
    ['lkm version', 'for a bug report'],
    ['lkm --version', 'that of lkm alone'],
  ],

  async run(_, { io }) {
    const { apiVersion } = await import('../../contract/index.ts');
    const versions = { lkm: version, node: io.nodeVersion, contract: apiVersion };
    return { kind: 'record', row: versions, data: versions, quiet: [version] };
  },
});
