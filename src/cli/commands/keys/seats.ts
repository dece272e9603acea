import { realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';
import { type SessionKeys, signRequest } from '../../../client/with-session.ts';
import { keySessions } from '../../../contract/sessions.ts';
import { argument, change, command, option, productOfKey } from '../../command.ts';
import { ofForm, UsageError } from '../../failure/errors.ts';
import type { Io } from '../../io.ts';
import type { Destination } from '../../output/destination.ts';
import { openDestination } from '../../output/destination.ts';
import type { Field } from '../../output/result.ts';
import { unwritable } from '../../output/standard-output.ts';
import { doneNote, warningNotes } from '../../output/terminal.ts';
import { duration, momentAndWhen, usage } from '../../output/words.ts';
import { readText } from '../../values/files.ts';
import { keyCheck, licenseKeyArgument } from '../../values/license-key.ts';
import { changeCommand } from '../forms.ts';
import { doneTo, fieldsShown, namedRecord } from '../results.ts';

const sessionFields: readonly Field[] = [
  { name: 'sessionId', label: 'session' },
  { name: 'sessionSecret', label: 'secret' },
  { name: 'nextNonce', label: 'next nonce' },
  { name: 'expiresAt', label: 'expires', show: momentAndWhen },
  { name: 'heartbeatInterval', label: 'heartbeat', show: (seconds) => `every ${duration(Number(seconds))}` },
  { name: 'currentSessions', label: 'sessions', show: (used, _, { maxSessions }) => usage(used, maxSessions) },
  ...fieldsShown('data', 'maxSessions'),
  ...fieldsShown('chosen', 'productId', 'licenseKey', 'message'),
];

export const keysCheckout = changeCommand({
  about: 'Leases one session of a floating key. Its secret is shown this once.',
  operation: 'keys.checkout',
  arguments: { key: licenseKeyArgument },
  options: {
    product: productOfKey,
    hostId: option('--host-id <ID>', 'the device that uses it'),
    deviceTag: option('--tag <TEXT>', 'a name for the device'),
    userIdentifier: option('--user <TEXT>', 'the person who uses it'),
    keyCheck,
  },
  fields: sessionFields,
  examples: [
    ['lkm keys checkout "$KEY" --host-id desk-7 --user ada', 'take a seat'],
    ['lkm keys checkout "$KEY" --json -o session.json', 'for keys heartbeat and keys checkin'],
  ],

  outcome(answer, _, __, { productId, licenseKey }) {
    const session = { productId, licenseKey, ...answer };
    const shown = namedRecord(session, answer.sessionId);
    return { ...shown, secret: true, done: 'leased', notes: warningNotes(answer) };
  },
});

/** The file keeps the secret of the session out of the shell's history. */
const sessionFileArgument = argument('<FILE>', 'the file of keys checkout --json -o FILE, - for stdin');

export const keysHeartbeat = command({
  about: 'Prolongs the lease of a session, and writes the nonce of the next heartbeat into its file.',
  operation: 'keys.heartbeat',
  arguments: { file: sessionFileArgument },
  options: change,
  fields: [
    { name: 'sessionId', label: 'session' },
    { name: 'expiresAt', label: 'expires', show: momentAndWhen },
    { name: 'nextNonce', label: 'next nonce', shown: 'data' },
    { name: 'idempotencyKey', shown: 'chosen' },
  ],
  examples: [['lkm keys heartbeat session.json', 'each time that the heartbeat interval is over']],

  async run({ file }, context) {
    const session = await readSession(file, context.io);
    const { productId, licenseKey, sessionId } = session;
    const update = await session.prepareUpdate();
    context.onClose(async () => update.discard());
    const changed = await context.change(keySessions.heartbeat, { productId, licenseKey, ...signRequest(session) });
    const { answer, idempotencyKey } = changed;
    const { expiresAt, nextNonce } = answer;
    await update.write({ expiresAt, nextNonce });
    const row = { sessionId, expiresAt, nextNonce, idempotencyKey };
    return { ...namedRecord(row, sessionId), idempotencyKey, notes: [doneNote(changed, 'prolonged')] };
  },
});

export const keysCheckin = changeCommand({
  about: 'Gives the seat of a session back before its lease ends.',
  operation: 'keys.checkin',
  arguments: { file: sessionFileArgument },
  fields: ['message', 'sessionId', 'idempotencyKey'],
  examples: [['lkm keys checkin session.json', 'the seat is free at once']],

  async prepare({ file }, { io }) {
    const session = await readSession(file, io);
    return { productId: session.productId, licenseKey: session.licenseKey, ...signRequest(session) };
  },
  outcome: ({ message }, _, __, { sessionId }) =>
    doneTo(String(sessionId), { message, sessionId }, `gave back ${sessionId}`),
});

const SessionFile = z.looseObject({
  productId: z.string(),
  licenseKey: z.string(),
  sessionId: z.string(),
  sessionSecret: z.string(),
  nextNonce: z.string(),
});

interface FiledSession extends SessionKeys {
  readonly productId: string;
  readonly licenseKey: string;
  /** Checks that the session can be written back, before a request is sent. Throws `LocalError`. */
  prepareUpdate(): Promise<Pick<Destination, 'discard'> & { readonly write: WriteSession }>;
}

/** Writes the changed session back; does nothing for stdin or another pipe. */
type WriteSession = (changes: { readonly nextNonce: string; readonly expiresAt: string }) => Promise<void>;

/** Throws `LocalError` if the file holds no session. */
async function readSession(path: string, io: Io): Promise<FiledSession> {
  if (/^ses_\w+$/.test(path)) {
    throw new UsageError(`${path} is the id of a session, and this takes the file with its secret`, [
      ['The file:', 'lkm keys checkout KEY --json -o session.json wrote it'],
      ['To end it by its id:', `lkm sessions release ${path}`],
    ]);
  }
  const session = parseSession(await readText(path, io), path);
  return {
    ...session,
    prepareUpdate: async () => {
      const full = resolve(io.cwd, path);
      if (path === '-' || !statSync(full).isFile()) return { write: async () => {}, discard: () => {} };
      // The file behind a link is replaced.
      const destination = openDestination(realpathSync(full), true, io);
      const write: WriteSession = async (changes) => {
        const text = `${JSON.stringify({ ...session, ...changes }, null, 2)}\n`;
        await destination.write(text, { secret: true }).catch((cause: unknown) => {
          const hint = 'The session was prolonged. Repeat the command soon: the nonce in the file is taken once more.';
          throw unwritable(path, cause, { hints: [hint] });
        });
      };
      return { write, discard: destination.discard };
    },
  };
}

const parseSession = (text: string, path: string): z.output<typeof SessionFile> =>
  ofForm(
    `${path === '-' ? 'stdin' : path} holds no session`,
    [['Make one:', 'lkm keys checkout KEY --json -o session.json']],
    () => SessionFile.parse(JSON.parse(text)),
  );
