import { command } from '../../command.ts';
import { deviceFields, licenseFields } from '../../output/resource-fields.ts';
import type { Field } from '../../output/result.ts';
import { keyCheck, licenseKeyArgument } from '../../values/license-key.ts';
import { product } from '../options.ts';

export const keysGet = command({
  path: 'keys get',
  about: 'Shows one licence key: its limits, its devices and its customer.',
  operation: 'keys.get',
  arguments: { key: licenseKeyArgument },
  options: { product, keyCheck },
  fields: licenseFields,
  examples: [
    ['lkm keys get "$KEY" -P "$ID"', 'everything about a key'],
    ['lkm keys get @key.txt -P "$ID" --json', "the service's own objects"],
    ['lkm keys get - -P "$ID" --fields activations < key.txt', 'how many devices use it'],
  ],

  async run({ key, product }, context) {
    const client = await context.client();
    const lookup = await client.keys.get({ productId: product, licenseKey: key });
    return {
      kind: 'record',
      row: lookup,
      parts: [{ fields: deviceFields as readonly Field[], rows: lookup.license.devices }],
      data: lookup,
      quiet: [lookup.license.key],
      secret: true,
    };
  },
});
