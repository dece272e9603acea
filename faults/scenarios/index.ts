import type { Scenario } from '../scenario.ts';
import { oneKey, slots } from './at-once.ts';
import { backups } from './backups.ts';
import { bulk } from './bulk.ts';
import { clock } from './clock.ts';
import { copiedLoss, copying } from './copying.ts';
import { cutCommit } from './cut-commit.ts';
import { failingSync, failingWrite } from './disk-errors.ts';
import { everyMessage, everyStep } from './every-step.ts';
import { diskFull, logDisk } from './full-disks.ts';
import { receiverAway } from './receiver-away.ts';
import { secondServer } from './second-server.ts';
import { standby } from './standby.ts';
import { stoppedReplica } from './stopped-replica.ts';
import { tail } from './tail.ts';
import { killLoop, powerLoss } from './under-load.ts';
import { unreadAnswers } from './unread-answers.ts';
import { webhooks } from './webhooks.ts';

/** Every scenario. */
export const plan: readonly Scenario[] = [
  killLoop,
  powerLoss,
  copying,
  copiedLoss,
  everyStep,
  everyMessage,
  oneKey,
  slots,
  diskFull,
  failingSync,
  failingWrite,
  standby,
  cutCommit,
  stoppedReplica,
  secondServer,
  unreadAnswers,
  logDisk,
  clock,
  webhooks,
  receiverAway,
  bulk,
  tail,
  backups,
];
