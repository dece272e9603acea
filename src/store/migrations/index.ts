import type { Connection, Engine } from '../engine/driver.ts';
import { up as schema } from './0001-schema.ts';
import { up as plansAndTrials } from './0002-plans-and-trials.ts';
import { up as endsByMonth } from './0003-ends-by-month.ts';
import { up as accountCounts } from './0004-account-counts.ts';
import { up as endsByDay } from './0005-ends-by-day.ts';

/** Brings the schema one step further. */
export interface Migration {
  up(db: Connection, engine: Engine): Promise<unknown>;
}

/** Every migration in order; one that has been released is never changed. */
export const migrations: Readonly<Record<string, Migration>> = {
  '0001-schema': { up: schema },
  '0002-plans-and-trials': { up: plansAndTrials },
  '0003-ends-by-month': { up: endsByMonth },
  '0004-account-counts': { up: accountCounts },
  '0005-ends-by-day': { up: endsByDay },
};

/** The last of those that `0001-schema` has taken the place of: a database that has run it has that schema. */
export const LAST_REPLACED = '0013-security';
