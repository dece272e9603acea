import type { Note } from '../../output/terminal.ts';
import { momentAndWhen } from '../../output/words.ts';

/** What freeing a device cannot undo: a licence file verifies without the service. */
export function fileNotes(files: readonly { readonly hostId: string; readonly endsAt: string }[], now: number): Note[] {
  const lastEnds = new Map<string, string>();
  for (const { hostId, endsAt } of files) {
    if (endsAt > (lastEnds.get(hostId) ?? '')) lastEnds.set(hostId, endsAt);
  }
  const notes = [...lastEnds].map(([hostId, endsAt]): Note => {
    const end = momentAndWhen(endsAt, now);
    return { tone: 'warning', text: `a licence file for ${hostId} still counts until its end: ${end}` };
  });
  if (notes.length === 0) return [];
  return [...notes, { tone: 'hint', text: 'only software that reads the list of lkm revocations export refuses it' }];
}
