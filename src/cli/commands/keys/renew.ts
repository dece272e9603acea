import { change, command, option, product } from '../../command.ts';
import { UsageError } from '../../failure/errors.ts';
import { moment } from '../../output/words.ts';
import { parseCalendarDuration } from '../../values/calendar-duration.ts';
import { keyCheck, licenseKeyArgument } from '../../values/license-key.ts';
import { changedFields, changedKey, ifUpdatedAt } from './changed.ts';

const starts = ['end', 'now', 'later'] as const;

export const keysRenew = command({
  path: 'keys renew',
  about:
    'Moves the end of a key: adds a duration to its end, to now, or to whichever is later. The same command run twice ' +
    'renews twice, unless the first had no answer.',
  operation: 'keys.renew',
  arguments: { key: licenseKeyArgument },
  options: {
    product,
    duration: option('--for <DUR>', 'how long, by the calendar: P1Y, 1y, 6mo', {
      parse: parseCalendarDuration,
      field: 'duration',
    }),
    from: option('--from <START>', 'from when; later unless given', { field: 'from', choices: starts }),
    ifUpdatedAt,
    keyCheck,
    ...change,
  },
  fields: changedFields,
  examples: [
    ['lkm keys renew "$KEY" -P "$ID" --for 1y', 'another year'],
    ['lkm keys renew "$KEY" -P "$ID" --for P1M --from now', 'a month from now'],
  ],

  async run({ key, product, duration, from, ifUpdatedAt }, context) {
    if (duration === undefined) throw new UsageError('--for is required', [['Give it:', '--for 1y']]);
    const changed = await context.change((client, call) =>
      client.keys.renew({ productId: product, licenseKey: key, duration, from, ifUpdatedAt }, call),
    );
    return changedKey(changed, `renewed · expires ${moment(changed.answer.expirationDate)}`);
  },
});
