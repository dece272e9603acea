import type { Client } from '../../client/client.ts';
import { contract } from '../../contract/index.ts';
import type { Device } from '../../contract/keys/licenses.ts';
import { argument, command, flag, option, productFilter, required, yes } from '../command.ts';
import { exitCodes, UsageError } from '../failure/errors.ts';
import type { CommandResult, Field } from '../output/result.ts';
import { count, dayInBrief, relative } from '../output/words.ts';
import { confirm } from '../prompts/questions.ts';
import { isRefusal } from '../request/changes.ts';
import { checkFiltersExist } from '../request/look-ups.ts';
import { placeOf } from '../request/target.ts';
import { parseDayAgo } from '../values/instant.ts';
import { keyCheck, parseLicenseKey, wholeKeys } from '../values/license-key.ts';
import { customerOption, limit, readCommand } from './forms.ts';
import { fieldsShown, firstOf, listOf } from './results.ts';

export const deviceFields: readonly Field<Device>[] = [
  { name: 'hostId', label: 'host id' },
  { name: 'deviceTag', label: 'tag', cuts: true, drops: 3 },
  {
    name: 'ipAddress',
    label: 'ip address',
    show: (address) => marked(address, String(address).includes('*')),
    drops: 1,
  },
  { name: 'activationTime', label: 'activated', show: relative, drops: 2 },
  { name: 'lastSeenOn', label: 'last seen', show: dayInBrief, drops: 4 },
];

export const marked = (value: unknown, isMasked: boolean): string =>
  isMasked ? `${value} (masked: the token lacks license:reveal)` : String(value);

const ofKey: readonly Field[] = [
  { name: 'licenseKey', label: 'key' },
  ...fieldsShown('chosen', 'productName', 'customerName', 'customerEmail'),
];

const stale = {
  field: 'unseenSince',
  parse: parseDayAgo,
} as const;

const filters = { product: productFilter, customer: customerOption('only those of this customer') };

export const devicesList = readCommand({
  about: 'Lists devices, oldest first: those of one key, or of all keys that fit.',
  operation: 'devices.list',
  arguments: {
    key: argument('[KEY]', 'only those of this key; - for stdin, or @FILE', {
      pick: 'key',
      parse: parseLicenseKey,
      secret: true,
    }),
  },
  options: {
    ...filters,
    stale: option('--stale <DUR|DAY>', 'only devices that were not seen for this long (90d), or since this day', stale),
    limit,
    keyCheck,
  },
  fields: [...ofKey, ...deviceFields, ...fieldsShown('data', 'id', 'licenseId', 'productId', 'customerId')],
  examples: [
    ['lkm devices list "$KEY"', 'who holds its slots'],
    ['lkm devices list "$KEY" --fields hostId --format tsv', 'their host ids, for a script'],
    ['lkm devices list --stale 90d', 'the devices that lkm devices release would free'],
  ],

  async read(client, { key, stale: unseenSince, limit, ...named }) {
    const input = { productId: named.product, customerId: named.customer, unseenSince };
    if (key !== undefined) return devicesOf(client, key, input);
    const { items, notes } = await firstOf((part) => client.devices.list({ ...input, limit: part }), limit);
    if (items.length === 0) await checkFiltersExist(client, input);
    const keys = items.map(({ licenseKey }) => licenseKey);
    const isFiltered = Object.values(input).some((filter) => filter !== undefined);
    const empty = isFiltered ? 'no device fits' : 'no devices; lkm keys activate makes one';
    return { ...listOf(items, empty, { name: 'hostId', notes }), secrets: keys, secret: true };
  },
});

interface Filters {
  readonly productId: string | undefined;
  readonly customerId: string | undefined;
  readonly unseenSince: string | undefined;
}

async function devicesOf(client: Client, licenseKey: string, filters: Filters) {
  const { productId, customerId, unseenSince } = filters;
  if (customerId !== undefined) throw new UsageError('--customer is for the devices of all keys: leave it or KEY out');
  const { license } = await client.keys.get({ productId, licenseKey });
  const { id: licenseId, key, devices } = license;
  const found = devices.filter(
    ({ lastSeenOn, activationTime }) =>
      unseenSince === undefined || (lastSeenOn ?? activationTime.slice(0, 10)) < unseenSince,
  );
  const rows = found.map((device) => ({ licenseKey: key, ...device, licenseId, productId: license.productId }));
  const empty = unseenSince === undefined ? 'no devices; lkm keys activate makes one' : 'no device fits';
  return { ...listOf(rows, empty, { name: 'hostId' }), fields: [...deviceFields, ...fieldsShown('data', 'id')] };
}

export const devicesRelease = command({
  about:
    'Frees the slots of devices that were not seen for a time: neither activated, nor signed for, nor in a session. For a ' +
    'device that was imported and not seen since, its activation counts. A device that comes back takes a slot again, if ' +
    'one is free. What is done is kept when the command is stopped: run it ' +
    'again for the rest.',
  operation: 'devices.list',
  options: {
    ...filters,
    stale: required('--stale <DUR|DAY>', 'devices that were not seen for this long (90d), or since this day', stale),
    yes,
    dryRun: flag('-n, --dry-run', 'list them and free none'),
  },
  fields: [...ofKey, ...deviceFields, 'freed', 'error', ...fieldsShown('data', 'licenseId', 'productId', 'customerId')],
  examples: [
    ['lkm devices release --stale 90d -P "$ID" --dry-run', 'the devices that would be freed'],
    ['lkm devices release --stale 90d -P "$ID"', 'asks, and frees them'],
  ],

  async run(
    { stale: unseenSince, yes, dryRun, product: productId, customer: customerId },
    context,
  ): Promise<CommandResult> {
    const client = await context.client();
    const found = client.devices.list({ productId, customerId, unseenSince });
    const devices = await Array.fromAsync(found);
    if (devices.length === 0) await checkFiltersExist(client, { productId, customerId });
    const what = count(devices.length, 'device');
    const secrets = devices.map(({ licenseKey }) => licenseKey);
    const shown = { secrets, secret: true } as const;
    // An import does not tell when devices were used last.
    const unseen = devices.filter(({ lastSeenOn }) => lastSeenOn === null).length;
    const doubt = unseen === 0 ? [] : [`imported and not seen since, so they may be in use: ${unseen}`];
    if (dryRun || devices.length === 0) {
      const listed = listOf(devices, `no device to free: all were seen since ${unseenSince}`, {
        name: 'hostId',
        notes: [
          ...doubt.map((text) => ({ tone: 'warning', text }) as const),
          ...(devices.length === 0 ? [] : [{ tone: 'done', text: `would free ${what}; nothing was sent` } as const]),
        ],
      });
      return { ...listed, ...shown };
    }
    wholeKeys(secrets);
    if (!yes) {
      await confirm(context, {
        about: [
          `${what} of ${count(new Set(secrets).size, 'key')}, not seen since ${unseenSince}`,
          ...doubt.map((text) => `  ${text}`),
          `  at ${placeOf(await context.target())}`,
        ],
        question: `free ${what}?`,
        action: `freeing ${what}`,
      });
    }
    const rows = [];
    for (const device of devices) {
      const { productId, licenseKey, hostId } = device;
      const error = await context.change(contract.keys.deactivate, { productId, licenseKey, hostId }).then(
        () => null,
        (error: unknown) => {
          if (!isRefusal(error)) throw error;
          return error.message;
        },
      );
      rows.push({ ...device, freed: error === null, error });
    }
    const freed = rows.filter((row) => row.freed).length;
    const done = {
      tone: freed === rows.length ? ('done' as const) : ('warning' as const),
      text: `freed ${freed} of ${what}`,
    };
    return {
      ...listOf(rows, '', { name: 'hostId', notes: [done] }),
      ...shown,
      ...(freed < rows.length && { exitCode: exitCodes.partial }),
    };
  },
});
