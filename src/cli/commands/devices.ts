import { command, productOfKey } from '../command.ts';
import { listOf } from '../output/result.ts';
import { keyCheck, licenseKeyArgument } from '../values/license-key.ts';
import { deviceFields } from './keys/get.ts';

export const devicesList = command({
  about: 'Lists the devices of a key, oldest first.',
  operation: 'keys.get',
  watchable: true,
  arguments: { key: licenseKeyArgument },
  options: { product: productOfKey, keyCheck },
  fields: [...deviceFields, { name: 'id', shown: 'data' }],
  examples: [
    ['lkm devices list "$KEY"', 'who holds its slots'],
    ['lkm devices list "$KEY" --fields hostId --format tsv', 'their host ids, for a script'],
  ],

  async run({ key, product }, context) {
    const client = await context.client();
    const { devices } = (await client.keys.get({ productId: product, licenseKey: key })).license;
    return {
      ...listOf(devices, 'no devices; lkm keys activate makes one'),
      quiet: devices.map(({ hostId }) => hostId),
    };
  },
});
