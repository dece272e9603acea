import type { CommandResult } from '../../output/result.ts';
import { doneNote } from '../../output/terminal.ts';
import type { Changed } from '../../request/changes.ts';

/** The result of a command that made a secret: the one time that it is shown. */
export function issuedSecret({ answer, ...changed }: Changed<Issued>, done: string): CommandResult {
  const { idempotencyKey } = changed;
  return {
    kind: 'value',
    value: answer.secret,
    data: { ...answer, idempotencyKey },
    quiet: [answer.secret],
    secret: true,
    idempotencyKey,
    notes: [doneNote(changed, done), { tone: 'hint', text: 'keep it now: it is not shown again' }],
  };
}

type Issued = Readonly<Record<string, unknown>> & { readonly secret: string };
