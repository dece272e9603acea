import type { Field } from '../output/result.ts';

/** The columns of the results of a bulk command. */
export const resultFields = (fields: readonly Field[]): readonly Field[] => [
  { name: 'row', isNumber: true },
  { name: 'status' },
  ...fields,
  { name: 'error', of: ({ error }) => messageOf(error), cuts: true },
  { name: 'line', isNumber: true, shown: 'chosen' },
  { name: 'idempotencyKey', shown: 'chosen' },
];

const messageOf = (error: unknown): unknown =>
  typeof error === 'object' && error !== null && 'message' in error ? error.message : null;

/** The same for `--fields` of a command that can also change one thing only. */
export const chosenOnly = (fields: readonly Field[], own: readonly Field[]): readonly Field[] =>
  fields
    .filter(({ name }) => own.every((field) => field.name !== name))
    .map((field) => ({ ...field, shown: 'chosen' }));
