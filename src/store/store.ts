import { accountRows } from './accounts.ts';
import { auditRows } from './audit.ts';
import { customerRows } from './customers.ts';
import { deviceRows } from './devices.ts';
import type { Connection, Driver } from './driver.ts';
import { idempotencyRows } from './idempotency.ts';
import { keyRows } from './keys.ts';
import { productRows } from './products.ts';
import { sessionRows } from './sessions.ts';
import { signingKeyRows } from './signing-keys.ts';
import { tokenRows } from './tokens.ts';

/** What is kept, as verbs: on the reader, or inside one transaction. */
export type Rows = ReturnType<typeof rowsOn>;

/** The whole store of one instance. */
export interface Store extends Pick<Driver, 'settled' | 'announce' | 'close'> {
  /** Reads, which show only what is durable. */
  readonly rows: Rows;
  /**
   * Runs `work` in one transaction; resolves after a durable commit, or undoes all of it and rejects. Rejects with
   * StorageError when the database failed and nothing has happened, with OutcomeUnknown when that cannot be told.
   */
  transaction<T>(work: (rows: Rows) => Promise<T>): Promise<T>;
}

/** The store that an engine's driver keeps. */
export function createStore(driver: Driver): Store {
  const knownRows = rememberRows();
  return {
    rows: rowsOn(driver.reader),
    transaction: (work) => driver.transaction((connection) => work(knownRows(connection))),
    settled: driver.settled,
    announce: driver.announce,
    close: driver.close,
  };
}

/** SQLite writes on one connection only, whose rows are then made once. */
function rememberRows(): (connection: Connection) => Rows {
  const known = new WeakMap<Connection, Rows>();
  return (connection) => {
    const rows = known.get(connection) ?? rowsOn(connection);
    known.set(connection, rows);
    return rows;
  };
}

function rowsOn(connection: Connection) {
  return {
    accounts: accountRows(connection),
    tokens: tokenRows(connection),
    signingKeys: signingKeyRows(connection),
    products: productRows(connection),
    customers: customerRows(connection),
    keys: keyRows(connection),
    devices: deviceRows(connection),
    sessions: sessionRows(connection),
    idempotency: idempotencyRows(connection),
    audit: auditRows(connection),
    /** Runs `work` so that, when it throws, what it wrote is undone while the transaction goes on. */
    nested: connection.nested,
  };
}
