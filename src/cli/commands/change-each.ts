import type { Client } from '../../client/client.ts';
import type { CommandContext } from '../context.ts';
import { exitCodes, UsageError } from '../failure/errors.ts';
import type { CommandResult } from '../output/result.ts';
import { doneNote, type Note } from '../output/terminal.ts';
import { count, keyEnd } from '../output/words.ts';
import { confirm } from '../prompts/questions.ts';
import { type Change, isRefusal, type PreparedChange } from '../request/changes.ts';
import { placeOf } from '../request/target.ts';

interface Row {
  /** The reason of the refusal, or null. */
  readonly error: string | null;
  readonly idempotencyKey: string;
}

export interface Description {
  /** The lines above the question. */
  readonly lines: readonly string[];
  /** The name of the object, if it confirms the change too. */
  readonly name?: string | undefined;
}

interface Several {
  readonly noun: string;
  /** `deleted`, `revoked`. A command that asks first has such a word. */
  readonly done: string;
  readonly ids: readonly string[];
  /** A name that may be logged. */
  nameOf(id: string): string;
  changeOf(id: string): Promise<Change>;
  /** The fields of a row: its name, and whether it was done. */
  readonly columns: readonly [name: string, isDone: string];
  /** For a change that cannot be undone. Without it nothing is asked. */
  describe?(client: Client, id: string): Promise<Description>;
  confirmFlag?(id: string): string;
}

/**
 * Makes changes one by one and reports each, after one confirmation for all. A refusal is reported and the next change is
 * made; any other error, and the refusal of a single change, ends the command.
 */
export async function changeEach(context: CommandContext, several: Several): Promise<CommandResult> {
  const { noun, ids, nameOf, changeOf, describe } = several;
  const [name, isDone] = several.columns;
  if (new Set(ids).size < ids.length) throw new UsageError(`a ${noun} is given twice`, ['Nothing was sent.']);
  const alone = ['idempotencyKey', 'ifUpdatedAt'].find((name) => context.written[name] !== undefined);
  if (ids.length > 1 && alone !== undefined) {
    const flag = alone === 'ifUpdatedAt' ? '--if-updated-at' : '--idempotency-key';
    throw new UsageError(`${flag} is for one change: give one ${noun} with it`);
  }
  if (describe && !context.dryRun) await confirmAll(context, { ...several, describe });
  const asked: Change[] = [];
  for (const id of ids) asked.push(await changeOf(id));
  const changes = await context.prepare(asked);
  const rows = await sendAll(changes, several, context);
  const doneIds = ids.filter((_, at) => rows[at]?.error === null);
  const failed = ids.filter((id) => !doneIds.includes(id));
  return {
    kind: 'done',
    data: rows.map((row, at) => ({ [name]: ids[at], [isDone]: row.error === null, ...row })),
    quiet: doneIds,
    ...(changes[0] && { idempotencyKey: changes[0].idempotencyKey }),
    ...(failed.length > 0 && {
      exitCode: exitCodes.partial,
      notes: [warning(`${howMany(rows, several)}; not ${failed.map(nameOf).join(', ')}`)],
    }),
  };
}

async function sendAll(
  changes: readonly PreparedChange[],
  several: Several,
  { say }: CommandContext,
): Promise<readonly Row[]> {
  const { ids, done, nameOf } = several;
  const rows: Row[] = [];
  for (const { idempotencyKey, send } of changes) {
    const called = nameOf(ids[rows.length] ?? '');
    try {
      const changed = await send();
      rows.push({ error: null, idempotencyKey });
      await say(doneNote(changed, isUnchanged(changed.answer) ? wasSo(called, done) : `${done} ${called}`));
    } catch (error) {
      if (ids.length === 1) throw error;
      if (!isRefusal(error)) {
        await say(warning(`${howMany(rows, several)}; stopped at ${called}`));
        throw error;
      }
      rows.push({ error: error.message, idempotencyKey });
      await say(warning(`not ${done} ${called}: ${error.message}`));
    }
  }
  return rows;
}

/** Messages on the way contain only the ends of keys. */
export async function changeKeys(
  context: CommandContext,
  done: string,
  keys: readonly string[],
  how: Pick<Several, 'changeOf' | 'describe'>,
): Promise<CommandResult> {
  const named = { noun: 'key', done, ids: keys, nameOf: keyEnd, columns: ['key', 'done'] } as const;
  return { ...(await changeEach(context, { ...named, ...how })), secrets: keys, secret: true };
}

const isUnchanged = (answer: unknown): boolean => Object(answer).unchanged === true;

/** `…2BBF6 was blocked already`, `…2BBF6 was not blocked`. */
const wasSo = (called: string, done: string): string =>
  `${called} was ${done.startsWith('un') ? `not ${done.slice(2)}` : `${done} already`}`;

const warning = (text: string): Note => ({ tone: 'warning', text });

const howMany = (rows: readonly Row[], { done, ids, noun }: Several): string =>
  `${done} ${rows.filter(({ error }) => error === null).length} of ${count(ids.length, noun)}`;

/** Shows all objects, and has the name or the number of them typed. */
async function confirmAll(
  context: CommandContext,
  { noun, done, ids, nameOf, describe, confirmFlag }: Several & Required<Pick<Several, 'describe'>>,
): Promise<void> {
  const isOne = ids.length === 1;
  const [id = ''] = ids;
  const what = isOne ? nameOf(id) : count(ids.length, noun);
  const described: Description[] = [];
  for (const id of context.settings.interactive ? ids : []) {
    const { lines, name } = await describe(await context.client(), id);
    described.push({ lines: [`  ${nameOf(id)}  ${lines[0]}`, ...lines.slice(1)], name });
  }
  const ends = `this ${done.slice(0, -1)}s ${isOne ? `the ${noun}` : what} for ever`;
  await confirm(context, {
    question: { typed: isOne ? what.replace('…', '') : String(ids.length), or: isOne ? described[0]?.name : undefined },
    about: [`${ends}, at ${placeOf(await context.target())}:`, ...described.flatMap(({ lines }) => lines)],
    action: `${done.slice(0, -2)}ing ${what}`,
    flag: (isOne && confirmFlag?.(id)) || '--yes',
  });
}
