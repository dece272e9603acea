import { UsageError } from '../failure/errors.ts';
import type { Field } from './result.ts';

/** The fields that `--fields` names, in its order; null when all are wanted. Throws `UsageError`. */
export function chooseFields(names: readonly string[] | null, fields: readonly Field[]): readonly Field[] | null {
  if (names === null) return null;
  return names.map((name) => {
    const field = fields.find((one) => one.name === name);
    if (field) return field;
    const known = fields.map((one) => one.name).join(', ');
    throw new UsageError(`there is no field '${name}'`, [known === '' ? 'This command has none.' : `Fields: ${known}`]);
  });
}
