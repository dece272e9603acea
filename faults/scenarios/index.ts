import type { Scenario } from '../scenario.ts';
import { backups } from './backups.ts';
import { bulk } from './bulk.ts';
import { clock } from './clock.ts';
import { cutCommit } from './cut-commit.ts';
import { failingSync, failingWrite } from './disk-errors.ts';
import { diskFull } from './disk-full.ts';
import { everyMessage } from './every-message.ts';
import { everyStep } from './every-step.ts';
import { killLoop } from './kill-loop.ts';
import { logDisk } from './log-disk.ts';
import { oneKey } from './one-key.ts';
import { postgresRestart } from './postgres-restart.ts';
import { powerLoss } from './power-loss.ts';
import { secondServer } from './second-server.ts';
import { slots } from './slots.ts';
import { stoppedReplica } from './stopped-replica.ts';
import { tail } from './tail.ts';
import { unreadAnswers } from './unread-answers.ts';
import { webhooks } from './webhooks.ts';

/** A scenario with its share of the time, and the rounds of its short form. */
export interface Planned {
  readonly scenario: Scenario;
  readonly share: number;
  readonly shortRounds: number;
}

/** Every scenario. */
export const plan: readonly Planned[] = [
  { scenario: killLoop, share: 5, shortRounds: 3 },
  { scenario: powerLoss, share: 3, shortRounds: 2 },
  { scenario: everyStep, share: 5, shortRounds: 12 },
  { scenario: everyMessage, share: 5, shortRounds: 11 },
  { scenario: oneKey, share: 2, shortRounds: 11 },
  { scenario: slots, share: 2, shortRounds: 2 },
  { scenario: diskFull, share: 1, shortRounds: 3 },
  { scenario: failingSync, share: 2, shortRounds: 4 },
  { scenario: failingWrite, share: 1, shortRounds: 4 },
  { scenario: postgresRestart, share: 3, shortRounds: 2 },
  { scenario: cutCommit, share: 2, shortRounds: 20 },
  { scenario: stoppedReplica, share: 2, shortRounds: 11 },
  { scenario: secondServer, share: 2, shortRounds: 9 },
  { scenario: unreadAnswers, share: 2, shortRounds: 2 },
  { scenario: logDisk, share: 1, shortRounds: 3 },
  { scenario: clock, share: 1, shortRounds: 3 },
  { scenario: webhooks, share: 3, shortRounds: 2 },
  { scenario: bulk, share: 2, shortRounds: 2 },
  { scenario: tail, share: 2, shortRounds: 1 },
  { scenario: backups, share: 2, shortRounds: 1 },
];
