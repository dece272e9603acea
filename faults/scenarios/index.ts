import type { Scenario } from '../scenario.ts';
import { backups } from './backups.ts';
import { bulk } from './bulk.ts';
import { copying } from './copying.ts';
import { cutCommit } from './cut-commit.ts';
import { failingSync, failingWrite } from './disk-errors.ts';
import { everyMessage, everyStep } from './every-step.ts';
import { diskFull } from './full-disk.ts';
import { killLoop } from './kill-loop.ts';
import { powerLoss } from './power-loss.ts';
import { secondServer } from './second-server.ts';
import { standby } from './standby.ts';
import { stoppedReplica } from './stopped-replica.ts';
import { webhooks } from './webhooks.ts';

/** Every scenario. */
export const plan: readonly Scenario[] = [
  killLoop,
  powerLoss,
  copying,
  everyStep,
  everyMessage,
  diskFull,
  failingSync,
  failingWrite,
  standby,
  cutCommit,
  stoppedReplica,
  secondServer,
  webhooks,
  bulk,
  backups,
];
