import type { Note } from '../output/terminal.ts';
import { count } from '../output/words.ts';
import type { BulkOperation } from './operation.ts';
import type { SentRow } from './send-rows.ts';

/** Warnings about rows, how many of `total` rows were done, and what to do about the others. */
export function summaryOf({ done, noun }: BulkOperation, sent: readonly SentRow[], total: number): readonly Note[] {
  const unknown = sent.filter(({ isUnknown }) => isUnknown).length;
  const failed = sent.filter(({ error }) => error !== null).length - unknown;
  const old = sent.filter(({ outcome }) => outcome?.isOld).length;
  const parts = [
    `${done} ${sent.length - failed - unknown - old} of ${count(total, noun)}`,
    old > 0 && `${old} ${old === 1 ? 'was' : 'were'} ${done} before`,
    failed > 0 && `${failed} failed`,
    unknown > 0 && `${unknown} unknown`,
  ];
  const hints = [
    failed > 0 && 'the same command sends the failed rows again, and no other',
    unknown > 0 && `an unknown row may have been ${done}: look before you do it in another way`,
    old > 0 && old === total && `nothing was ${done} now; to do it all once more: --run NAME`,
  ];
  return [
    ...warningsOf(sent).map((text): Note => ({ tone: 'warning', text })),
    { tone: failed + unknown === 0 ? 'done' : 'warning', text: parts.filter(Boolean).join(' · ') },
    ...hints.filter((text) => text !== false).map((text): Note => ({ tone: 'hint', text })),
  ];
}

const SHOWN_WARNINGS = 10;

function warningsOf(sent: readonly SentRow[]): readonly string[] {
  const texts = sent.flatMap(({ row, line, outcome }) =>
    outcome?.warning ? [`${line === null ? `row ${row}` : `line ${line}`}: ${outcome.warning}`] : [],
  );
  const more = texts.length - SHOWN_WARNINGS;
  return more > 0 ? [...texts.slice(0, SHOWN_WARNINGS), `and ${count(more, 'row')} more of that kind`] : texts;
}
