import type { CommandResult } from '../output/result.ts';
import { count } from '../output/words.ts';
import type { Body, BulkOperation } from './operation.ts';
import type { PlannedNeed } from './preparation.ts';

interface Preview {
  readonly rows: number;
  readonly first: Body;
  readonly needed: readonly PlannedNeed[];
}

/** What a run would send. */
export function previewRun({ noun, done }: BulkOperation, { rows, first, needed }: Preview): CommandResult {
  const text = `${count(rows, 'row')}, no problems: each would be ${done} as a ${noun}. The first:`;
  const needs = [...Map.groupBy(needed, ({ kind }) => kind)].map(listNeeds).join('');
  return {
    kind: 'text',
    draw: () => `${text}\n\n${JSON.stringify(first, null, 2)}\n${needs}`,
    data: { dryRun: true, rows, first, ...(needed.length > 0 && { needed }) },
    quiet: [],
    notes: [{ tone: 'hint', text: 'nothing was sent' }],
  };
}

const SHOWN = 20;

/** What the rows refer to, of one kind; what would be made comes first. */
function listNeeds([kind, all]: readonly [string, readonly PlannedNeed[]]): string {
  const { new: made = [], exists = [] } = Object.groupBy(all, ({ status }) => status);
  const shown = [...made, ...exists].slice(0, SHOWN);
  const width = Math.max(...shown.map(({ name }) => name.length));
  return [
    '',
    `${kind}s: ${made.length} would be made, ${exists.length} are there`,
    ...shown.map(({ name, id }) => `  ${name.padEnd(width)}  ${id ?? 'would be made'}`),
    ...(all.length > SHOWN ? [`  and ${all.length - SHOWN} more; --json shows all`] : []),
    '',
  ].join('\n');
}
