import type { Scenario } from '../scenario.ts';
import { backups } from './backups.ts';
import { failingSync, failingWrite } from './disk-errors.ts';
import { everyStep } from './every-step.ts';
import { diskFull } from './full-disk.ts';
import { killLoop } from './kill-loop.ts';
import { powerLoss } from './power-loss.ts';
import { secondServer } from './second-server.ts';
import { standby } from './standby.ts';
import { webhooks } from './webhooks.ts';

/** Every scenario. */
export const plan: readonly Scenario[] = [
  killLoop,
  powerLoss,
  everyStep,
  diskFull,
  failingSync,
  failingWrite,
  standby,
  secondServer,
  webhooks,
  backups,
];
