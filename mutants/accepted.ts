import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Mutant } from './find.ts';

/** A mutant that no test can kill, or none should. It is known by its text, so that it survives a move of its file. */
export interface Accepted {
  /** The line that it stands in. */
  readonly code: string;
  readonly before: string;
  readonly after: string;
  readonly reason: string;
}

const list = JSON.parse(readFileSync(join(import.meta.dirname, 'accepted.json'), 'utf8')) as readonly Accepted[];

/** Why a survivor is accepted; undefined when it is not. */
export function reasonFor(mutant: Mutant): string | undefined {
  return list.find(
    ({ code, before, after }) => code === mutant.code && before === mutant.before && after === mutant.text,
  )?.reason;
}
