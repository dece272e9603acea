import type { Plant } from './plants.ts';

/** Enough sequences to find a defect, from this seed on. */
const sequencesFrom = (seed: number): readonly string[] => [
  'node',
  'test/model/index.ts',
  ...['--engine', 'sqlite'],
  ...['--sequences', '100'],
  ...['--seed', String(seed)],
];

/** What finds most of the defects below; the rules as they are pass it. */
export const modelRun = sequencesFrom(1);

const says = /^SQLite: \d+ sequences, seed \d+, .*FAILED$/m;

/** Defects in the rules, each of which random sequences beside the model must find. */
export const modelPlants: readonly Plant[] = [
  {
    title: 'a slot that is not freed',
    files: {
      'src/store/tables/keys/keys.ts': swap('activations = activations - ', 'activations = activations - 0 * '),
    },
    command: modelRun,
    says,
  },
  {
    title: 'a lease that lasts a millisecond longer',
    files: {
      'src/store/tables/sessions.ts': (old) =>
        swap('expires_at > ', 'expires_at >= ')(swap('expires_at <= ', 'expires_at < ')(old)),
    },
    command: sequencesFrom(2),
    says,
  },
  {
    title: 'a licence that lasts a millisecond longer',
    files: { 'src/domain/license.ts': swap('now < expirationDate', 'now <= expirationDate') },
    command: modelRun,
    says,
  },
  {
    title: 'a renewal that forgets the time that is left',
    files: { 'src/service/keys/changes.ts': swap('later: later(end, now)', 'later: now') },
    command: modelRun,
    says,
  },
];

/** Puts a text in the place of another one, which has to be there. */
function swap(before: string, after: string): (old: string) => string {
  return (old) => {
    if (!old.includes(before)) throw new Error(`nothing to plant in: ${before}`);
    return old.replaceAll(before, after);
  };
}
