import type { CommandContext } from '../context.ts';
import { exitCodes, UsageError } from '../failure/errors.ts';
import type { CommandResult } from '../output/result.ts';
import { count } from '../output/words.ts';
import { openLimiter } from './concurrency-limiter.ts';
import type { BulkOperation } from './operation.ts';
import { type ReadRows, readRows } from './reading/read-rows.ts';
import type { BulkRequest } from './request.ts';
import { resultOf } from './results.ts';
import { openMarker, runOf } from './run.ts';
import { sendRows } from './send-rows.ts';

const MAX_LOOKUPS_AT_ONCE = 16;

/** Sends a request per row of a file, or `count` requests. Repeating the command does no row twice. Decision 0062. */
export async function runBulk(
  context: CommandContext,
  operation: BulkOperation,
  request: BulkRequest,
): Promise<CommandResult> {
  const { io, dryRun, settings } = context;
  if (request.idempotencyKey !== undefined) {
    throw new UsageError('an idempotency key stands for one request, and a run makes one for each row');
  }
  if ((request.file ?? []).length === 0 && request.count === undefined) {
    throw new UsageError('-f is required', [['Give it:', '-f FILE, or - for stdin']]);
  }
  const read = await readRows(context, operation, request);
  const { rows, dependencies, problems, warnings } = read;
  const run = runOf(operation.command, request.run ?? null, ...read.identity);
  const marker = dryRun ? null : openMarker(run, operation, request.restart ?? false, io);
  if (dependencies.all.size > 0) {
    await dependencies.find(await context.client(), openLimiter(MAX_LOOKUPS_AT_ONCE, io), problems);
  }
  if (problems.count > 0) throw problems.error(read.file ?? 'the command line', operation.columns);
  if (marker === null) return previewRun(operation, read);
  for (const text of warnings) await context.say({ tone: 'warning', text });
  marker.refuseTakenOutput(settings);
  if (!marker.isKnown) await request.confirm?.(rows.length);
  marker.begin();
  const started = { operation, request, read, marker };
  return resultOf(context, started, sendRows(context, started));
}

function previewRun(
  { noun, done }: BulkOperation,
  { rows, dependencies, warnings, problems }: ReadRows,
): CommandResult {
  const first = rows[0]?.body;
  // Licence keys are not printed.
  const shown = [...dependencies.all].filter(([, { kind }]) => kind !== 'key');
  const needed = shown.map(([key, { kind, name }]) => {
    const id = dependencies.ids.get(key);
    return { kind, name, ...(id === undefined ? { status: 'new' } : { status: 'exists', id }) };
  });
  const counted = [...Map.groupBy(needed, ({ kind }) => kind)].map(([kind, all]) => {
    const found = all.filter(({ status }) => status === 'exists').length;
    return `\n${kind}s: ${all.length - found} would be made, ${found} are there\n`;
  });
  const skipped = problems.skipped.size;
  const state = skipped === 0 ? 'no problems' : `${skipped} more left out`;
  const text = `${count(rows.length, 'row')}, ${state}: each would be ${done} as a ${noun}. The first:`;
  return {
    kind: 'text',
    draw: () => `${text}\n\n${JSON.stringify(first, null, 2)}\n${counted.join('')}`,
    data: { dryRun: true, rows: rows.length, first, ...(needed.length > 0 && { needed }) },
    quiet: [],
    ...(skipped > 0 && { exitCode: exitCodes.partial }),
    notes: [
      ...warnings.map((text) => ({ tone: 'warning', text }) as const),
      { tone: 'hint', text: 'nothing was sent' },
    ],
  };
}
