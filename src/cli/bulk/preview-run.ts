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

/** What the rows refer to, a part for each kind; what would be made comes first. */
function listNeeds(needed: readonly PlannedNeed[]): string {
  return [...Map.groupBy(needed, ({ kind }) => kind)]
    .map(([kind, all]) => {
      const made = all.filter(({ status }) => status === 'new');
      const shown = [...made, ...all.filter(({ status }) => status === 'exists')].slice(0, SHOWN);
      const width = Math.max(...shown.map(({ name }) => name.length));
      return [
        '',
        `${kind}s: ${made.length} would be made, ${all.length - made.length} are there`,
        ...shown.map(({ name, id }) => `  ${name.padEnd(width)}  ${id ?? 'would be made'}`),
        ...(all.length > SHOWN ? [`  and ${all.length - SHOWN} more; --json shows all`] : []),
        '',
      ].join('\n');
    })
    .join('');
}
