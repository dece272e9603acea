import type { BulkOperation } from '../operation.ts';

/** The operation of a bulk command, by its words; null for a command that has none. */
export async function findOperation(command: string): Promise<BulkOperation | null> {
  switch (command) {
    case 'keys create':
      return (await import('./create-keys.ts')).createKeys;
    default:
      return null;
  }
}
