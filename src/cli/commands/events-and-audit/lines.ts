import { type Event, eventTypes } from '../../../contract/events.ts';
import type { View } from '../../output/result.ts';
import { type Paint, sanitise } from '../../output/terminal.ts';
import { keyEnd } from '../../output/words.ts';

/** The outcome of a forwarded event. */
interface Sent {
  readonly status: number | null;
  readonly durationMs: number;
  readonly error: string | null;
}

export type Acted = Pick<Event, 'actor' | 'tokenName' | 'customerName'>;

/** The name of an actor. */
export function actorName({ actor: { type, id }, tokenName, customerName }: Acted): string {
  if (type === 'owner') return 'owner of the database';
  const name = { token: tokenName, customer: customerName }[type];
  return type === 'token' && name ? name : `${name ?? id} (${type})`;
}

/** Adds the names of actors in a table. */
export const withActors = <Row extends Acted>(rows: readonly Row[]) =>
  rows.map((row) => ({ ...row, by: actorName(row) }));

type Cell = readonly [text: string, width: number];

const GAP = 2;

/** Widths of columns. */
const TIME = '10:00:00'.length;
const TYPE = Math.max(...eventTypes.map(({ length }) => length));
const SENT = '204 15000 ms'.length;
const ID = 31;
/** The id of a signing key. */
const LONGEST_ID = 43;

/** Formats events as lines for a terminal: below their day, the time, type, resource and actor. */
export function eventLines() {
  let lastDay = '';
  return async (event: Event, { columns, paint }: View, sent?: Sent): Promise<string> => {
    const { cut, layOut } = await import('../../output/table.ts');
    const { created_at: at, type } = event;
    const day = at.slice(0, 10);
    const head = day === lastDay ? [] : [paint.dim(`${day} UTC`)];
    lastDay = day;
    const [time, what] = [paint.dim(at.slice(11, 19)), paint[colorOf(type)](sanitise(type))];
    const first: Cell[] = [[time, TIME], [what, TYPE], ...(sent ? [[shownSent(sent, paint), SENT] as const] : [])];
    const room = first.reduce((left, [, width]) => left - width - GAP, columns);
    const aboutWidth = Math.max(ID, Math.min(LONGEST_ID, room - GAP - ID));
    const actorWidth = room - GAP - aboutWidth;
    const about = cut(sanitise(subjectOf(event, event.data)), aboutWidth);
    const by = paint.dim(cut(sanitise(nameOf(event, actorWidth)), actorWidth));
    const cells = [...first, [about, aboutWidth] as const, [by, actorWidth] as const];
    const shown = cells.filter(([, width]) => width >= TIME);
    const lines = layOut(
      [shown.map(([text]) => text)],
      shown.map(([, width]) => width),
    );
    const isTold = sent?.error && sent.error !== `answered ${sent.status}`;
    const error = isTold ? [`${' '.repeat(TIME + GAP)}${paint.red(sanitise(sent.error))}`] : [];
    return `${[...head, ...lines, ...error].join('\n')}\n`;
  };
}

/** The type says the same as the color. */
function colorOf(type: string): 'green' | 'yellow' | 'red' | 'cyan' {
  if (/(created|renewed|unblocked|\.activated|checked_out)$/.test(type)) return 'green';
  if (/(blocked|deleted|revoked|disabled|denied|expired)$/.test(type)) return 'red';
  return /(expiring_soon|limit_reached)$/.test(type) ? 'yellow' : 'cyan';
}

const shownSent = ({ status, durationMs, error }: Sent, paint: Paint): string =>
  paint[error === null ? 'green' : 'red'](status === null ? 'failed' : `${status} ${durationMs} ms`);

/** The name of a token; an id that does not fit is replaced by its type. */
function nameOf({ actor: { type, id }, tokenName }: Event, width: number): string {
  return tokenName ?? (type === 'owner' || id.length > width ? type : id);
}

/** The parts of a row that name its subject. */
interface Subject {
  readonly resource_type?: string;
  readonly resource_id?: string | null | undefined;
  readonly productName?: string | null | undefined;
  readonly customerName?: string | null | undefined;
}

/** The end of the key, the device, the customer or the product; or the id. */
export function subjectOf(
  { resource_type: type, resource_id: id, productName, customerName }: Subject,
  { key, hostId }: Readonly<Record<string, unknown>>,
): string {
  const known = [typeof key === 'string' ? keyEnd(key) : [], typeof hostId === 'string' ? hostId : []].flat();
  if (known.length > 0) return [...known, type === 'license' ? (customerName ?? []) : []].flat().join(' ');
  return { customer: customerName, product: productName }[type ?? ''] ?? id ?? '';
}
