import { bulkOptions, resultFields } from '../../bulk/options.ts';
import { change, command, flag, option, yes } from '../../command.ts';
import { UsageError } from '../../failure/errors.ts';

export const keysImport = command({
  about:
    'Takes in keys of another system, of any format, as they are: a row each, with limits, expiry, customer and devices. ' +
    'Reads what keys export writes. Nothing is overwritten. A customer is found by id, else by e-mail address, else ' +
    'created. Without -y it asks first.',
  operation: 'keys.import',
  options: {
    product: option('-P, --product <ID>', 'the product of rows that do not name one', {
      env: 'LKM_PRODUCT',
      field: 'productId',
    }),
    ...bulkOptions,
    ifAbsent: flag('--if-absent', 'pass over keys that are there already'),
    inUse: flag('--in-use', 'also keys that have more devices than slots'),
    createProducts: flag(
      '--create-products',
      'make the products and versions that are not there, named as in the file',
    ),
    yes,
    ...change,
  },
  fields: resultFields([{ name: 'key' }, { name: 'id' }]),
  ownsOutput: () => true,
  examples: [
    ['lkm keys import -f keys.csv --dry-run', 'every problem of the file at once'],
    ['lkm keys import -f keys.csv -y -o imported.csv --format csv', 'move in'],
    ['lkm keys import -f old.csv --map "Serial=key" --map "Seats=maxActivations"', 'columns of another system'],
  ],

  async run(values, context) {
    if (values.file === undefined) throw new UsageError('-f is required', [['Give it:', '-f FILE, or - for stdin']]);
    const { importKeysInBulk } = await import('../../bulk/operations/import-keys.ts');
    return importKeysInBulk(context, values);
  },
});
