import { tracingChannel } from 'node:diagnostics_channel';

/** A commit: how many changes it makes durable, and whether it does so before it returns. */
export interface Commit {
  readonly size: number;
  readonly isSynchronous: boolean;
}

/** Every commit of this process, for whoever measures them; costs nothing while nobody does. */
export const commits = tracingChannel<unknown, Commit>('lkm:commit');
