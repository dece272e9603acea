import { ApiError, outcomeUnknown } from '../../client/index.ts';
import { settles } from '../../client/outcome-unknown.ts';
import { toInstant } from '../../domain/time.ts';
import type { Io } from '../io.ts';
import type { Note } from '../output/result.ts';
import { moment } from '../output/words.ts';
import type { CapturedRequest } from './capture-request.ts';
import {
  type FoundIntent,
  findIntents,
  type IntendedRequest,
  intentFolder,
  removeIntents,
  takeIntent,
  writeIntent,
} from './intent-files.ts';

/** The right to send a request under a key, written down until the request has its answer. */
export interface Claim {
  readonly idempotencyKey: string;
  /** Whether an earlier process may have sent the request under this key. */
  readonly repeats: boolean;
  readonly files: readonly string[];
}

/** The service keeps its answers for so long, and so a repetition is safe for so long. */
const REPEATABLE_MS = 24 * 3_600_000;

/**
 * Chooses the key of a request and writes the request down before it is sent. The key is the given one, else that of
 * an earlier process that made the same request and is gone without an answer, else a new one.
 *
 * A key that is given is not written down: whoever gives it repeats it, and nobody else may.
 */
export async function claimKey(
  captured: CapturedRequest,
  givenKey: string | undefined,
  talker: Talker,
): Promise<Claim> {
  const { origin, path, body, endpoint } = captured;
  const request = { origin, path, body, method: endpoint.method };
  const found = findIntents(request, talker.io);
  if (givenKey !== undefined) {
    const files = found.filter(({ intent }) => intent.idempotencyKey === givenKey).map(({ file }) => file);
    return { idempotencyKey: givenKey, repeats: files.length > 0, files };
  }
  for (const one of found) {
    const claim = await takeOver(one, talker);
    if (claim !== null) return claim;
  }
  return begin(request, talker);
}

/** Who claims, and says what there is to know about it. */
interface Talker {
  readonly io: Io;
  say(note: Note): Promise<void>;
}

/** Whether the service has said all it will ever say to a claim: then nothing is left to repeat. */
export function isSettledBy(error: unknown, { repeats }: Claim): boolean {
  if (outcomeUnknown(error)) return false;
  // What never came to the idempotency key says nothing of the earlier process's attempt.
  return !repeats || (error instanceof ApiError && settles(error));
}

async function takeOver(found: FoundIntent, { io, say }: Talker): Promise<Claim | null> {
  const { intent, owner, file } = found;
  if (intent.host !== io.host) {
    await say({ tone: 'warning', text: elsewhere(found, io) });
    return null;
  }
  // This process has begun nothing yet: its own pid is that of an earlier one.
  if (owner.pid !== io.pid && io.processStartTime(owner.pid) === owner.birth) return null;
  if (io.now() - Date.parse(intent.createdAt) > REPEATABLE_MS) {
    removeIntents([file]);
    await say({ tone: 'warning', text: tooOld(found) });
    return null;
  }
  const own = takeIntent(found, io);
  if (own === null) return null;
  await say({ tone: 'hint', text: `repeating the call of ${when(found, io)} that had no answer` });
  return { idempotencyKey: intent.idempotencyKey, repeats: true, files: [own] };
}

async function begin(request: IntendedRequest, { io, say }: Talker): Promise<Claim> {
  const idempotencyKey = io.uuid();
  const { host, pid } = io;
  const createdAt = toInstant(io.now());
  try {
    const file = writeIntent({ version: 1, ...request, idempotencyKey, host, pid, createdAt }, io);
    return { idempotencyKey, repeats: false, files: [file] };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    await say({
      tone: 'warning',
      text: `cannot write to ${intentFolder(io)} (${code}): a call that gets no answer is not known to later ones`,
    });
    return { idempotencyKey, repeats: false, files: [] };
  }
}

/** `10:31 UTC`, with its day unless that is today. */
function when({ intent }: FoundIntent, io: Io): string {
  const text = moment(intent.createdAt);
  return intent.createdAt.slice(0, 10) === toInstant(io.now()).slice(0, 10) ? text.slice(11) : text;
}

const elsewhere = (found: FoundIntent, io: Io): string =>
  [
    `the same call was made on ${found.intent.host} at ${when(found, io)}, and no answer is known here`,
    `unless it still runs there, repeat it instead: --idempotency-key ${found.intent.idempotencyKey}`,
  ].join('\n');

const tooOld = (found: FoundIntent): string =>
  [
    `an earlier call of ${moment(found.intent.createdAt)} never got an answer and is too old to be repeated`,
    `this is a new one; ${waysToCheck[`${found.intent.method} ${found.intent.path.replace(/\?.*/, '')}`] ?? inItsLog}`,
  ].join('\n');

const inItsLog = 'whether the earlier one was run, the log of the service says';

/** How to see what an operation has done, where the command line can tell. */
const waysToCheck: Readonly<Record<string, string>> = {
  'POST /customer': 'see whether the earlier one made its customer: lkm customers list',
  'DELETE /customer/by-id': 'see whether the customer is gone: lkm customers list',
  'POST /product': 'see whether the earlier one made its product: lkm products list',
  'PUT /product/by-id': 'see what the product is: lkm products get ID',
  'POST /token': 'see whether the earlier one made a token, and revoke it: lkm tokens list',
  'DELETE /token/by-id': 'see whether the token is revoked: lkm tokens list',
  'POST /deactivate-key': 'see which devices hold a slot: lkm keys get KEY',
  'POST /key/sign': 'see which devices hold a slot: lkm keys get KEY',
};
