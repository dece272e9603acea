import { command, option } from '../command.ts';

export const revocationsExport = command({
  about:
    'Writes the signed list of revoked licence files: their devices were freed, or their licences blocked ' +
    'or deleted. Software that is offline reads it beside its licence file.',
  operation: 'revocations.export',
  options: {
    account: option('--account <ID>', 'whose list; the oldest account of the service unless given', {
      field: 'account',
    }),
  },
  fields: [{ name: 'list' }, { name: 'path' }],
  examples: [
    ['lkm revocations export -o revocations.jwt', 'for lkm keys verify --revocations'],
    ['lkm revocations export -o - | ssh pc-7 tee revocations.jwt', 'straight to a device'],
  ],

  async run({ account }, context) {
    const client = await context.client({ needsToken: false });
    const list = await client.revocations.export({ account });
    const path = context.settings.output;
    return {
      kind: 'file',
      content: list,
      data: path === null ? { list } : { path },
      quiet: path === null ? [list] : [],
      notes: path === null ? [] : [{ tone: 'done', text: `wrote ${path}` }],
    };
  },
});
