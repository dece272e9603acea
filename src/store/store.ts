import type { AccountId } from '../contract/scalars.ts';
import type { Connection, Driver, OpenOptions } from './engine/driver.ts';
import { openSqlite } from './engine/sqlite/driver.ts';
import { causeOf, OutcomeUnknown, StartupError, StorageError } from './errors.ts';
import type { OutboxRecord } from './outbox-record.ts';
import { plainSecrets, type Secrets } from './secret-box.ts';
import { findSecrets, type Sealing } from './secrets.ts';
import { accountRepository } from './tables/accounts.ts';
import { customerLinkRepository } from './tables/customer-links.ts';
import { customerRepository } from './tables/customers.ts';
import { deviceRepository } from './tables/devices.ts';
import { idempotencyRepository } from './tables/idempotency.ts';
import { licenseExpiryRepository } from './tables/keys/expiries.ts';
import { keyRepository } from './tables/keys/keys.ts';
import { licenseFileRepository } from './tables/keys/license-files.ts';
import { keyListRepository } from './tables/keys/lists.ts';
import { previousKeyRepository } from './tables/keys/previous-keys.ts';
import { planRepository } from './tables/plans.ts';
import { productRepository, productVersionRepository } from './tables/products.ts';
import { type RateRepository, rateRepository } from './tables/rates.ts';
import { auditRepository } from './tables/record/audit.ts';
import { eventRepository } from './tables/record/events.ts';
import { checkpointRepository, recordHeadRepository } from './tables/record/heads.ts';
import { outboxRepository } from './tables/record/outbox.ts';
import { searchRepository } from './tables/search.ts';
import { sessionRepository } from './tables/sessions.ts';
import { signingKeyRepository } from './tables/signing-keys.ts';
import { slotPromiseRepository } from './tables/slot-promises.ts';
import { statsRepository } from './tables/stats.ts';
import { tokenRepository } from './tables/tokens.ts';
import { trialRepository } from './tables/trials.ts';
import { deliveryRepository } from './tables/webhooks/deliveries.ts';
import { webhookRepository } from './tables/webhooks/webhooks.ts';
import { createTokenMemory } from './token-memory.ts';

/** The repositories of all tables, on the reader or inside one transaction. */
export type Repositories = ReturnType<typeof repositoriesOn>;

/** Gives entries of one account their numbers, oldest first. */
type NumberEntries = (
  repositories: Repositories,
  accountId: AccountId,
  entries: readonly OutboxRecord[],
) => Promise<void>;

/** The whole store of one instance. */
export interface Store
  extends Pick<Driver, 'isOnlyWriter' | 'file' | 'warnings' | 'explain' | 'settled' | 'publishUrl' | 'close'> {
  /** The repositories for reads; they see durable rows only. */
  readonly repositories: Repositories;
  /** How private keys and other secrets are kept. */
  readonly secrets: Secrets['kept'];
  /** Rate limits that replicas share; null where one process has the database for itself. */
  readonly rates: RateRepository | null;
  /**
   * Registers the function that numbers recorded entries at the end of each commit. Returns false on engines where commits
   * of several processes overtake each other: there entries wait in the outbox, and a job numbers them.
   */
  numberInCommit(number: NumberEntries): boolean;
  /** Throws when the database cannot serve, changes included: unreachable, full, read-only, damaged, or removed from its location. */
  check(): Promise<void>;
  /**
   * Runs `work` in one transaction; resolves after a durable commit, or undoes all of it and rejects. May call `work`
   * again after a conflict: it must change nothing but the database. Rejects with StorageError when the database failed
   * and nothing has happened, with OutcomeUnknown when that cannot be told.
   */
  transaction<T>(work: (repositories: Repositories) => Promise<T>): Promise<T>;
}

/** How long the failure of a change counts as the state of the database, unless another change works before. */
const FAILURE_MS = 10_000;

/** Creates a store on the driver of an engine. */
export function createStore(driver: Driver, secrets: Secrets = plainSecrets): Store {
  const memory = driver.isOnlyWriter ? createTokenMemory() : null;
  const onReader = repositoriesOn(driver.reader, secrets, memory?.noteChange);
  const tokens = memory === null ? onReader.tokens : memory.inFrontOf(onReader.tokens);
  const repositories = { ...onReader, tokens };
  /** SQLite writes on one connection only, whose repositories are made once. */
  const known = new WeakMap<Connection, Repositories>();
  const inTransaction = (connection: Connection): Repositories => {
    const made = known.get(connection) ?? repositoriesOn(connection, secrets, memory?.noteChange);
    known.set(connection, made);
    return made;
  };

  let failure: unknown = null;
  /** Remembers failures that an operator has to end, such as a full disk; the driver can repeat its own checks. */
  const noteFailure = (error: unknown) => {
    const isOfDatabase = error instanceof StorageError || error instanceof OutcomeUnknown;
    if (!isOfDatabase || causeOf(error) instanceof StartupError) return;
    if (!(driver.explain(error) instanceof StartupError)) return;
    failure = error;
    setTimeout(() => {
      if (failure === error) failure = null;
    }, FAILURE_MS).unref();
  };

  return {
    ...driver,
    repositories,
    secrets: secrets.kept,
    rates: driver.isOnlyWriter ? null : rateRepository(driver.reader),
    numberInCommit(number) {
      driver.atCommit?.(async (connection, staged) => {
        for (const [accountId, entries] of Map.groupBy(staged, (entry) => entry.accountId)) {
          await number(inTransaction(connection), accountId, entries);
        }
      });
      return driver.atCommit !== undefined;
    },
    async check() {
      // This error names a lasting cause, such as a standby, better than the failed change does.
      await driver.check();
      if (failure !== null) throw failure;
      await repositories.accounts.oldest();
    },
    async transaction(work) {
      try {
        const value = await driver.transaction((connection) => work(inTransaction(connection)));
        failure = null;
        return value;
      } catch (error) {
        noteFailure(error);
        throw error;
      } finally {
        memory?.forgetChanged();
      }
    },
  };
}

/** The repositories of a connection. */
export function repositoriesOn(connection: Connection, secrets: Secrets, onTokenChange?: () => void) {
  return {
    accounts: accountRepository(connection),
    tokens: tokenRepository(connection, onTokenChange),
    signingKeys: signingKeyRepository(connection, secrets),
    previousKeys: previousKeyRepository(connection),
    plans: planRepository(connection),
    trials: trialRepository(connection),
    products: productRepository(connection),
    productVersions: productVersionRepository(connection),
    customers: customerRepository(connection),
    customerLinks: customerLinkRepository(connection),
    keys: keyRepository(connection),
    keyLists: keyListRepository(connection),
    devices: deviceRepository(connection),
    slotPromises: slotPromiseRepository(connection),
    sessions: sessionRepository(connection, secrets),
    licenseExpiries: licenseExpiryRepository(connection),
    stats: statsRepository(connection),
    search: searchRepository(connection),
    idempotency: idempotencyRepository(connection),
    outbox: outboxRepository(connection),
    files: licenseFileRepository(connection),
    audit: auditRepository(connection),
    events: eventRepository(connection),
    recordHeads: recordHeadRepository(connection),
    checkpoints: checkpointRepository(connection),
    webhooks: webhookRepository(connection, secrets),
    deliveries: deliveryRepository(connection),
    nested: connection.nested,
    tryLock: connection.tryLock,
    confirm: connection.confirm,
  };
}

/**
 * Opens the database that `location` names; a new database gets its schema. Without `sealing`, secrets are used as the
 * database has them.
 *
 * @param location the path of a SQLite file, or `postgres://…`
 * @throws StartupError when it cannot be used, or its secrets cannot be opened
 */
export async function openStore(
  location: string,
  { sealing, ...options }: OpenOptions & { readonly sealing?: Sealing } = {},
): Promise<Store> {
  const driver = await openDriver(location, options);
  try {
    return createStore(driver, sealing && (await findSecrets(driver, sealing)));
  } catch (error) {
    await driver.close();
    throw error;
  }
}

async function openDriver(location: string, options: OpenOptions): Promise<Driver> {
  if (!isPostgres(location)) return openSqlite(location, options);
  // Imported on use: a command on a file needs no PostgreSQL driver.
  return (await import('./engine/postgres/driver.ts')).openPostgres(location, options);
}

/** Whether the location names a PostgreSQL database, and not a file. */
export const isPostgres = (location: string): boolean => /^postgres(ql)?:\/\//.test(location);
