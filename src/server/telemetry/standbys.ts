import type { Logger } from 'pino';
import type { StandbyState, Standbys } from '../../store/engine/standbys.ts';

/** Writes a line to the log for each standby that reads do not go to, now or later, and when they do again. */
export function logStandbys(standbys: Standbys | null, log: Logger): void {
  const warn = ({ name, problem }: StandbyState) => log.warn({ standby: name, problem }, 'no reads go to the standby');
  for (const state of standbys?.list() ?? []) if (state.problem !== null) warn(state);
  standbys?.onChange((state) => {
    if (state.problem === null) log.info({ standby: state.name }, 'reads go to the standby');
    else warn(state);
  });
}
