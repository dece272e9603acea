import type { BulkOperation } from '../operation.ts';

/** The operation of a bulk command, by its words; null for a command that has none. */
export async function findOperation(command: string): Promise<BulkOperation | null> {
  switch (command) {
    case 'keys create':
      return (await import('./create-keys.ts')).createKeys;
    case 'keys import':
      return (await import('./import-keys.ts')).importKeys;
    case 'keys update':
      return (await import('./change-keys.ts')).updateKeys;
    case 'keys renew':
      return (await import('./change-keys.ts')).renewKeys;
    case 'keys block':
      return (await import('./change-keys.ts')).blockKeys;
    case 'customers create':
      return (await import('./create-customers.ts')).createCustomers;
    default:
      return null;
  }
}
