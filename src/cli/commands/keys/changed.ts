import type { License } from '../../../contract/keys/licenses.ts';
import { option } from '../../command.ts';
import type { Io } from '../../io.ts';
import type { CommandResult, Field } from '../../output/result.ts';
import { doneNote } from '../../output/terminal.ts';
import type { Changed } from '../../request/changes.ts';
import { parseInstant } from '../../values/instant.ts';
import { type Lookup, licenseFields, withStatus } from './get.ts';

/** The fields of a changed key: those of `keys get`, without the customer, which the service does not return here. */
export const changedFields: readonly Field<Lookup>[] = [
  ...licenseFields.filter(({ name }) => name !== 'customer' && name !== 'customerId'),
  { name: 'idempotencyKey', shown: 'chosen' },
];

/** The result of a change of one key: the licence as it is then. */
export function changedKey(
  { answer: license, ...changed }: Changed<License>,
  text: string,
  { now }: Pick<Io, 'now'>,
): CommandResult {
  const { idempotencyKey } = changed;
  return {
    kind: 'record',
    row: withStatus({ license, customer: null, idempotencyKey }, now()),
    data: { license, idempotencyKey },
    quiet: [license.key],
    secrets: [license.key],
    secret: true,
    idempotencyKey,
    notes: [doneNote(changed, text)],
  };
}

/** The condition of a change: that nobody else has made another meanwhile. */
export const ifUpdatedAt = option('--if-updated-at <INSTANT>', 'only if this is still its updatedAt, as get shows it', {
  parse: parseInstant,
  field: 'ifUpdatedAt',
});
