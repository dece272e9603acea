import type { BulkOperation } from '../operation.ts';

/** The operation of a bulk command, by its words; null for a command that has none. */
export async function findOperation(command: string): Promise<BulkOperation | null> {
  switch (command) {
    case 'keys create':
      return (await import('./create-keys.ts')).createKeysOperation;
    case 'keys import':
      return (await import('./import-keys.ts')).importKeysOperation;
    case 'keys update':
      return (await import('./change-keys.ts')).updateKeysOperation;
    case 'keys renew':
      return (await import('./change-keys.ts')).renewKeysOperation;
    case 'keys block':
      return (await import('./change-keys.ts')).blockKeysOperation;
    case 'customers create':
      return (await import('./create-customers.ts')).createCustomersOperation;
    default:
      return null;
  }
}
