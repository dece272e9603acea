import type { CommandResult } from '../output/result.ts';
import { count } from '../output/words.ts';
import type { BulkOperation } from './operation.ts';
import type { PlannedNeed } from './preparation.ts';
import type { RowBody } from './reading/read-bodies.ts';

interface Preview {
  readonly rows: number;
  readonly first: RowBody['body'];
  readonly needed: readonly PlannedNeed[];
}

/** What a run would send. */
export function previewRun({ noun, done }: BulkOperation, { rows, first, needed }: Preview): CommandResult {
  const text = `${count(rows, 'row')}, no problems: each would be ${done} as a ${noun}. The first:`;
  return {
    kind: 'text',
    draw: () => `${text}\n\n${JSON.stringify(first, null, 2)}\n${listNeeds(needed)}`,
    data: { dryRun: true, rows, first, ...(needed.length > 0 && { needed }) },
    quiet: [],
    notes: [{ tone: 'hint', text: 'nothing was sent' }],
  };
}

const SHOWN = 20;

/** What would be made besides, and what was found; those that would be made come first. */
function listNeeds(needed: readonly PlannedNeed[]): string {
  if (needed.length === 0) return '';
  const sorted = needed.toSorted((a, b) => (a.status === b.status ? 0 : a.status === 'new' ? -1 : 1));
  const width = Math.max(...sorted.slice(0, SHOWN).map(({ name }) => name.length));
  const made = needed.filter(({ status }) => status === 'new').length;
  return [
    '',
    `Their rows need ${needed.length}: ${made} would be made, ${needed.length - made} exist already.`,
    ...sorted.slice(0, SHOWN).map(({ kind, name, id }) => `  ${kind} ${name.padEnd(width)}  ${id ?? 'would be made'}`),
    ...(needed.length > SHOWN ? [`  and ${needed.length - SHOWN} more; --json shows all`] : []),
    '',
  ].join('\n');
}
