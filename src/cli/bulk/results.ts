import { hash } from 'node:crypto';
import { lstatSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Settings } from '../config/settings.ts';
import { exitCodes, LocalError } from '../failure/errors.ts';
import type { Io } from '../io.ts';
import type { CommandResult } from '../output/result.ts';
import type { Note } from '../output/terminal.ts';
import { count } from '../output/words.ts';
import type { RunRow } from '../state/open-run.ts';
import { resultFields } from './options.ts';
import { type BulkRun, rowKey } from './run.ts';

export function resultOf(run: BulkRun) {
  const rows: Record<string, unknown>[] = [];
  const done: Record<string, unknown>[] = [];
  for (const row of run.read()) {
    const result = resultRow(run, row);
    rows.push(result);
    if (row.kind === 'done') done.push(result);
  }
  return {
    kind: 'rows',
    rows,
    data: rows,
    quiet: done.map(({ key, id }) => String(key ?? id ?? '')),
    secrets: done.flatMap(({ key }) => (typeof key === 'string' ? [key] : [])),
    empty: '',
    fields: resultFields(run.operation.fields),
    secret: true,
    notes: summary(run),
    ...(done.length < rows.length && { exitCode: exitCodes.partial }),
  } satisfies CommandResult;
}

function resultRow({ run, operation }: BulkRun, row: RunRow): Record<string, unknown> {
  const { line, status, error, attempt } = row;
  const said: Record<string, unknown> = { key: row.body.licenseKey, ...row.body, ...row.result };
  const named = operation.fields.flatMap(({ name }) => (said[name] === undefined ? [] : [[name, said[name]] as const]));
  return {
    row: row.row,
    ...(line !== null && { line }),
    status,
    ...Object.fromEntries(named),
    ...(error !== null && { error }),
    idempotencyKey: rowKey(run.id, row.row, attempt),
  };
}

function summary({ run: { id, rows }, operation, counts }: BulkRun): Note[] {
  const { done, existing, failed, unknown, open } = counts();
  const parts = [
    `${operation.done} ${done - existing} of ${count(rows, operation.noun)}`,
    existing > 0 && `${existing} existed already`,
    failed > 0 && `${failed} failed`,
    unknown > 0 && `${unknown} unknown`,
    open > 0 && `${open} not sent`,
    `run ${id}`,
  ];
  const ways = [
    failed > 0 && `send the failed rows again: lkm jobs retry ${id}`,
    failed > 0 && `put them into a file to mend: lkm jobs show ${id} --failed --format csv`,
    unknown > 0 && `an unknown row may have been ${operation.done}: look before lkm jobs retry ${id} --unknown`,
    open > 0 && `send the rest: lkm jobs resume ${id}`,
  ];
  const hints = ways.filter((text) => text !== false).map((text): Note => ({ tone: 'hint', text }));
  return [{ tone: done === rows ? 'done' : 'warning', text: parts.filter(Boolean).join(' · ') }, ...hints];
}

/** Throws `LocalError` for a file of `-o` that is there, unless it is as this run has written it, by its `digestsOf`. */
export function refuseTakenOutput(
  digestsOf: (path: string) => readonly string[],
  { output, force }: Settings,
  { cwd }: Io,
): void {
  if (output === null || force) return;
  const path = resolve(cwd, output);
  if (!lstatSync(path, { throwIfNoEntry: false })?.isFile()) return;
  const own = digestsOf(path);
  if (own.length > 0 && own.includes(hash('sha256', readFileSync(path)))) return;
  const what = own.length === 0 ? 'exists' : 'was changed after this run wrote it';
  throw new LocalError(`${output} ${what}`, ['Nothing was sent. Name another file, or overwrite it with --force.']);
}
