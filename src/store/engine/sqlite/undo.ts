import type { DatabaseSync } from 'node:sqlite';
import { attempt } from './attempt.ts';

/** How nested work in a transaction on one SQLite connection is undone when it fails. */
export interface Undo {
  /** Begins a transaction: with a savepoint for each nested work, or with none. */
  begin(withSavepoints: boolean): void;
  /** To be called when a statement has changed something. */
  noteChange(): void;
  /** Runs nested work. What it wrote before it threw is undone; without savepoints the transaction cannot be kept then. */
  nested<T>(work: () => Promise<T>): Promise<T>;
  /** Whether nested work has failed whose writes only a rollback of the whole transaction undoes. */
  readonly needsRollback: boolean;
}

/** For a connection that writes. */
export function createUndo(database: DatabaseSync): Undo {
  const savepoint = database.prepare('SAVEPOINT part');
  const release = database.prepare('RELEASE part');
  const undo = database.prepare('ROLLBACK TO part');
  let usesSavepoints = true;
  let changes = 0;
  let needsRollback = false;

  return {
    begin(withSavepoints) {
      usesSavepoints = withSavepoints;
      needsRollback = false;
    },
    noteChange() {
      changes += 1;
    },
    nested: (work) => (usesSavepoints ? inSavepoint(work) : watched(work)),
    get needsRollback() {
      return needsRollback;
    },
  };

  async function watched<T>(work: () => Promise<T>): Promise<T> {
    const before = changes;
    try {
      return await work();
    } catch (error) {
      if (changes !== before) needsRollback = true;
      throw error;
    }
  }

  async function inSavepoint<T>(work: () => Promise<T>): Promise<T> {
    attempt(() => savepoint.run());
    try {
      const value = await work();
      attempt(() => release.run());
      return value;
    } catch (error) {
      // A full or failing disk may have ended the whole transaction already.
      if (database.isTransaction) {
        attempt(() => undo.run());
        attempt(() => release.run());
      }
      throw error;
    }
  }
}
