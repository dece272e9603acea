import { writeDuration } from '../../../contract/fields.ts';
import { bulkOptions, chosenOnly, isBulk, resultFields } from '../../bulk/options.ts';
import { change, command, option, productOfKeyOrRows } from '../../command.ts';
import { UsageError } from '../../failure/errors.ts';
import { moment } from '../../output/words.ts';
import { parseCalendarDuration } from '../../values/duration.ts';
import { keyCheck, keyUnlessFile } from '../../values/license-key.ts';
import { changedFields, changedKey, ifUpdatedAt } from './changed.ts';

const starts = ['end', 'now', 'later'] as const;

export const keysRenew = command({
  about:
    'Extends the expiry of a key: adds a duration to it, to now, or to whichever is later. The same command run twice ' +
    'renews twice, unless the first had no answer.',
  operation: 'keys.renew',
  arguments: { key: keyUnlessFile },
  options: {
    product: productOfKeyOrRows,
    duration: option('--for <DUR>', 'how long, by the calendar: P1Y, 1y, 6mo', {
      parse: parseCalendarDuration,
      field: 'duration',
    }),
    from: option('--from <START>', 'from when, end being its expiry; later unless given', {
      field: 'from',
      choices: starts,
    }),
    ifUpdatedAt,
    keyCheck,
    ...bulkOptions,
    ...change,
  },
  fields: [...changedFields, ...chosenOnly(resultFields([]), changedFields)],
  ownsOutput: isBulk,
  examples: [
    ['lkm keys renew "$KEY" --for 1y', 'another year'],
    ['lkm keys renew "$KEY" --for P1M --from now', 'a month from now'],
    ['lkm keys renew -P "$ID" -f keys.csv --for 1y', 'each key of a file'],
  ],

  async run({ duration, from, ...values }, context) {
    if (values.file !== undefined) {
      const { changeKeysInBulk, renewKeysOperation } = await import('../../bulk/operations/change-keys.ts');
      return changeKeysInBulk(context, renewKeysOperation, values, {
        duration: duration && writeDuration(duration),
        from,
      });
    }
    if (duration === undefined) throw new UsageError('--for is required', [['Give it:', '--for 1y']]);
    // Without a file it has been asked for.
    const { key = '' } = values;
    const productId = await context.productOf(key, values.product);
    const changed = await context.change((client, call) =>
      client.keys.renew({ productId, licenseKey: key, duration, from, ifUpdatedAt: values.ifUpdatedAt }, call),
    );
    return changedKey(changed, `renewed · expires ${moment(changed.answer.expirationDate)}`, context.io);
  },
});
