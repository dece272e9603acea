import { bulkOptions, readingOptions, resultFields, systemOptions } from '../../bulk/options.ts';
import { argument, change, command, flag, many, option, productOfRows, yes } from '../../command.ts';
import { maskInLog } from '../../output/github.ts';
import { count } from '../../output/words.ts';
import { checkFiltersExist } from '../../request/look-ups.ts';
import { customerOption } from '../forms.ts';

export const keysImport = command({
  about:
    'Takes in keys of another system, of any format, as they are: a row each, with limits, expiry, customer and devices. ' +
    'Reads what keys export writes. Nothing is overwritten. A customer is found by id, else by e-mail address, else ' +
    'created. Without -y it asks first.',
  operation: 'keys.import',
  alsoNeeds: {
    'product:write': 'with --from or --create-products, for products that are not there',
  },
  options: {
    product: productOfRows,
    ...bulkOptions,
    file: many(
      '-f, --file <PATH>',
      'CSV with a header, JSON lines, JSON, or pages of an API; - for stdin; several follow each other',
    ),
    ...systemOptions,
    ifAbsent: flag('--if-absent', 'pass over keys that are there already'),
    inUse: flag('--in-use', 'also keys that have more devices than slots'),
    createProducts: flag(
      '--create-products',
      'make the products and versions that are not there, named as in the file',
    ),
    yes,
    dryRun: change.dryRun,
  },
  fields: resultFields([{ name: 'key' }, { name: 'id' }]),
  ownsOutput: () => true,
  examples: [
    ['lkm keys import -f keys.csv --dry-run', 'every problem of the file at once'],
    ['lkm keys import -f keys.csv -y -o imported.csv --format csv', 'move in'],
    ['lkm keys import -f keys.json --from lemonsqueezy --devices instances.json -n', 'a file of another system'],
    ['lkm keys import -f old.csv --map "Serial=key" --map "Seats=maxActivations"', 'columns of your own'],
  ],

  async run(values, context) {
    const { importKeysInBulk } = await import('../../bulk/operations/import-keys.ts');
    return importKeysInBulk(context, values);
  },
});

export const keysCompare = command({
  about:
    'Compares the keys of files with those of the service, after a move: limit, expiry, state, customer and devices. It reads ' +
    'what keys import reads, with the same options, and shows each difference. Exit code 1 when there is one.',
  operation: 'keys.get',
  arguments: { files: argument('<FILE...>', 'files as keys import reads them, - for stdin') },
  options: {
    product: productOfRows,
    ...readingOptions,
    ...systemOptions,
    both: flag('--both', 'also show keys of these products that are not in the files'),
  },
  fields: ['key', 'field', 'file', 'service'],
  examples: [
    ['lkm keys compare keys.json --from lemonsqueezy --devices instances.json', 'after the import of these files'],
    ['lkm keys compare keys.csv --both --format csv -o differences.csv', 'both ways, as a file'],
  ],

  async run({ files, product: productId, both, ...values }, context) {
    const { compareKeys } = await import('../../bulk/compare-keys.ts');
    return compareKeys(context, { ...values, file: files, foreign: values }, { productId, both });
  },
});

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
    async function* chunks(): AsyncGenerator<string> {
      yield* exportKeys(client, { productId, customerId, form }, async (keys) => {
        exported += keys.length;
        if (context.settings.output === null) await maskInLog(keys, context.io);
      });
      if (exported === 0) await checkFiltersExist(client, { productId, customerId });
    }
    return {
      kind: 'chunks',
      chunks: chunks(),
      data: null,
      quiet: [],
      secret: true,
      // Called after the output.
      get notes() {
        return [{ tone: 'done' as const, text: `exported ${count(exported, 'key')}` }];
      },
    };
  },
});
