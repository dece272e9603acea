import type { Connection, Driver } from './engine/driver.ts';
import { accountRepository } from './tables/accounts.ts';
import { auditRepository } from './tables/audit.ts';
import { customerRepository } from './tables/customers.ts';
import { deviceRepository } from './tables/devices.ts';
import { idempotencyRepository } from './tables/idempotency.ts';
import { keyRepository } from './tables/keys.ts';
import { productRepository } from './tables/products.ts';
import { sessionRepository } from './tables/sessions.ts';
import { signingKeyRepository } from './tables/signing-keys.ts';
import { tokenRepository } from './tables/tokens.ts';

/** What is kept, as verbs: on the reader, or inside one transaction. */
export type Repositories = ReturnType<typeof repositoriesOn>;

/** The whole store of one instance. */
export interface Store extends Pick<Driver, 'warnings' | 'settled' | 'announce' | 'close'> {
  /** Reads, which show only what is durable. */
  readonly repositories: Repositories;
  /** Throws StorageError when the database cannot serve: unreachable, damaged, or removed from its location. */
  check(): Promise<void>;
  /**
   * Runs `work` in one transaction; resolves after a durable commit, or undoes all of it and rejects. Rejects with
   * StorageError when the database failed and nothing has happened, with OutcomeUnknown when that cannot be told.
   */
  transaction<T>(work: (repositories: Repositories) => Promise<T>): Promise<T>;
}

/** The store that an engine's driver keeps. */
export function createStore(driver: Driver): Store {
  const knownRepositories = rememberRepositories();
  const repositories = repositoriesOn(driver.reader);
  return {
    repositories,
    warnings: driver.warnings,
    check: async () => {
      await driver.check();
      await repositories.accounts.oldest();
    },
    transaction: (work) => driver.transaction((connection) => work(knownRepositories(connection))),
    settled: driver.settled,
    announce: driver.announce,
    close: driver.close,
  };
}

/** SQLite writes on one connection only, whose repositories are then made once. */
function rememberRepositories(): (connection: Connection) => Repositories {
  const known = new WeakMap<Connection, Repositories>();
  return (connection) => {
    const repositories = known.get(connection) ?? repositoriesOn(connection);
    known.set(connection, repositories);
    return repositories;
  };
}

function repositoriesOn(connection: Connection) {
  return {
    accounts: accountRepository(connection),
    tokens: tokenRepository(connection),
    signingKeys: signingKeyRepository(connection),
    products: productRepository(connection),
    customers: customerRepository(connection),
    keys: keyRepository(connection),
    devices: deviceRepository(connection),
    sessions: sessionRepository(connection),
    idempotency: idempotencyRepository(connection),
    audit: auditRepository(connection),
    /** Runs `work` so that, when it throws, what it wrote is undone while the transaction goes on. */
    nested: connection.nested,
  };
}
