import { command, customerOption, option } from '../../command.ts';
import { maskInLog } from '../../output/github.ts';
import { count } from '../../output/words.ts';
import { checkFiltersExist } from '../../request/look-ups.ts';

export const keysExport = command({
  about:
    'Writes every key with its customer, limits, expiry and devices, newest first, as keys import reads them: CSV unless ' +
    '--json or --format jsonl. A cell that a spreadsheet would run begins with an apostrophe, which importing takes away.',
  operation: 'keys.list',
  options: {
    product: option('-P, --product <ID>', 'only those of this product', { field: 'productId' }),
    customer: customerOption('only those of this customer'),
  },
  examples: [
    ['lkm keys export -o keys.csv', 'all of them'],
    ['lkm keys export -P "$ID" --format jsonl', 'those of a product, an object a line'],
  ],

  async run({ product: productId, customer: customerId }, context) {
    const { fileFormat: format } = context.settings;
    const form = format === 'json' || format === 'jsonl' ? format : 'csv';
    const client = await context.client();
    const { exportKeys } = await import('../../bulk/export-keys.ts');
    let exported = 0;
    const written = exportKeys(client, { productId, customerId, form }, async (keys) => {
      exported += keys.length;
      if (context.settings.output === null) await maskInLog(keys, context.io);
    });
    async function* chunks(): AsyncGenerator<string> {
      yield* written;
      if (exported === 0) await checkFiltersExist(client, { productId, customerId });
    }
    return {
      kind: 'chunks',
      chunks: chunks(),
      data: null,
      quiet: [],
      secret: true,
      // Read once all of it is written.
      get notes() {
        return [{ tone: 'done' as const, text: `exported ${count(exported, 'key')}` }];
      },
    };
  },
});
