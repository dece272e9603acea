import type { QueryResult } from 'pg';
import { StartupError, StorageError } from '../../errors.ts';
import { READ_ONLY } from './explain.ts';
import { nameOf } from './hosts.ts';

/**
 * A user without pg_read_all_stats does not see `sync_state`: any connected standby then counts. The settings of the user and of
 * the database are read from the catalog, since this connection keeps the settings of its start.
 */
const CONDITION = `
  select pg_is_in_recovery() as is_standby, coalesce((
      select split_part(setting, '=', 2) from pg_db_role_setting cross join unnest(setconfig) setting
      where setting like 'default_transaction_read_only=%' and setrole in (0, current_user::regrole)
        and setdatabase in (0, (select oid from pg_database where datname = current_database()))
      order by setrole = 0, setdatabase = 0 limit 1
    ), current_setting('default_transaction_read_only'))::boolean as is_read_only,
    current_setting('synchronous_standby_names') as standbys,
    current_setting('synchronous_commit') in ('off', 'local') as is_local,
    (select count(*) from pg_stat_replication where coalesce(sync_state in ('sync', 'quorum'), true)) > 0 as has_standby,
    (select count(*) from pg_stat_activity where datname = current_database() and wait_event = 'SyncRep'
      and clock_timestamp() - query_start > interval '2 seconds')::int as waiting
`;

/**
 * Asks PostgreSQL whether a change would work, without making one. Throws StorageError, with a StartupError that names the cause.
 *
 * @param renew called for a read-only database: the next check needs a new connection
 */
export async function checkCondition(
  query: (text: string) => Promise<QueryResult>,
  url: string,
  renew: () => void = () => {},
): Promise<void> {
  const [found] = await query(CONDITION).then(
    ({ rows }) => rows,
    (error: unknown) => {
      throw new StorageError(error);
    },
  );
  const fail = (problem: string, hint: string) => {
    throw new StorageError(new StartupError(`${nameOf(url)} ${problem}`, hint));
  };
  if (found.is_standby) fail('is a standby, which takes no changes', 'promote it, or give the address of the primary');
  if (found.is_read_only) {
    renew();
    fail(...READ_ONLY);
  }
  if (found.standbys === '' || found.is_local || (found.has_standby && found.waiting === 0)) return;
  const waiting = found.waiting > 0 ? `: ${found.waiting} commits wait` : ', which is not connected';
  const hint = 'start the standby, or take it out of synchronous_standby_names: then a failover loses changes';
  fail(`has to wait for its synchronous standby (${found.standbys})${waiting}`, hint);
}
