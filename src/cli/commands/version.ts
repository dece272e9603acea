import { command } from '../command.ts';

export const version = command({
  about: 'Shows the versions of lkm, of Node.js, and of the contract they speak.',
  fields: [{ name: 'lkm' }, { name: 'node' }, { name: 'contract' }],
  examples: [
    ['lkm version', 'for a bug report'],
    ['lkm --version', 'that of lkm alone'],
  ],

  async run(_, { io }) {
    const { apiVersion } = await import('../../contract/index.ts');
    const versions = { lkm: io.version, node: io.nodeVersion, contract: apiVersion };
    return { kind: 'record', row: versions, data: versions, quiet: [io.version] };
  },
});
