import type { Sent } from './receiver.ts';
import { fail, type Report } from './report.ts';

/**
 * Compares what a receiver was sent with the events of the record: each was accepted at least once, all attempts had its
 * id and the same body, and nothing else was sent.
 */
export function checkDelivered(
  report: Report,
  events: readonly { readonly seq: number; readonly content: string }[],
  sent: ReadonlyMap<number, Sent>,
): void {
  for (const { seq } of events) {
    if ((sent.get(seq)?.accepted ?? 0) === 0) fail(report, 'lost', `event ${seq} was not delivered`);
  }
  const ids = new Map(events.map(({ seq, content }) => [seq, JSON.parse(content).id]));
  for (const [seq, { ids: known, bodies }] of sent) {
    if (known.size > 1 || bodies.size > 1) fail(report, 'doubled', `event ${seq} with ${known.size} ids`);
    if (ids.get(seq) !== [...known][0]) fail(report, 'wrong', `event ${seq} was sent, and is not in the record`);
  }
}
