import { exitCodes } from '../failure/errors.ts';
import type { CommandResult } from '../output/result.ts';
import type { Note } from '../output/terminal.ts';
import { count } from '../output/words.ts';
import type { BulkOperation } from './operation.ts';
import { resultFields } from './options.ts';
import type { SentRow } from './send-rows.ts';

/** The results of a run, in the order of its rows: the same each time the run is repeated. */
export function resultOf(operation: BulkOperation, sent: readonly SentRow[]) {
  const rows = sent.map((row) => resultRow(operation, row));
  const done = rows.filter((_, at) => sent[at]?.error === null);
  return {
    kind: 'rows',
    rows,
    data: rows,
    quiet: done.map(({ key, id }) => String(key ?? id ?? '')),
    secrets: done.flatMap(({ key }) => (typeof key === 'string' ? [key] : [])),
    empty: '',
    fields: resultFields(operation.fields),
    secret: true,
    notes: [...warningsOf(sent), ...summary(operation, sent)],
    ...(done.length < rows.length && { exitCode: exitCodes.partial }),
  } satisfies CommandResult;
}

function resultRow(
  operation: BulkOperation,
  { row, line, body, outcome, error, isUnknown }: SentRow,
): Record<string, unknown> {
  const said: Record<string, unknown> = { key: body.licenseKey, ...body, ...outcome };
  const named = operation.fields.flatMap(({ name }) => (said[name] === undefined ? [] : [[name, said[name]] as const]));
  return {
    row,
    ...(line !== null && { line }),
    status: outcome !== null ? (outcome.status ?? operation.done) : isUnknown ? 'unknown' : 'failed',
    ...Object.fromEntries(named),
    ...(error !== null && { error }),
  };
}

const SHOWN_WARNINGS = 20;

/** The warnings of the service: a key that existed already may differ from what the row asks for. */
function warningsOf(sent: readonly SentRow[]): Note[] {
  const texts = sent.flatMap(({ row, line, outcome }) =>
    outcome?.warning ? [`${line === null ? `row ${row}` : `line ${line}`}: ${outcome.warning}`] : [],
  );
  const more = texts.length - SHOWN_WARNINGS;
  const shown = [
    ...texts.slice(0, SHOWN_WARNINGS),
    ...(more > 0 ? [`and ${count(more, 'row')} more of that kind`] : []),
  ];
  return shown.map((text) => ({ tone: 'warning', text }));
}

function summary({ done, noun }: BulkOperation, sent: readonly SentRow[]): Note[] {
  const unknown = sent.filter(({ isUnknown }) => isUnknown).length;
  const failed = sent.filter(({ error }) => error !== null).length - unknown;
  const old = sent.filter(({ outcome }) => outcome?.isOld).length;
  const parts = [
    `${done} ${sent.length - failed - unknown - old} of ${count(sent.length, noun)}`,
    old > 0 && `${old} ${old === 1 ? 'was' : 'were'} ${done} before`,
    failed > 0 && `${failed} failed`,
    unknown > 0 && `${unknown} unknown`,
  ];
  const ways = [
    failed > 0 && 'the same command sends the failed rows again, and no other',
    unknown > 0 && `an unknown row may have been ${done}: look before you do it in another way`,
    old > 0 && old === sent.length && `nothing was ${done} now; to do it all once more: --run NAME`,
  ];
  const hints = ways.filter((text) => text !== false).map((text): Note => ({ tone: 'hint', text }));
  return [{ tone: failed + unknown === 0 ? 'done' : 'warning', text: parts.filter(Boolean).join(' · ') }, ...hints];
}
