import type { RateRepository } from '../../store/tables/rates.ts';
import type { Job } from './job.ts';

/** The job that forgets what is not used up any more of rate limits that replicas share. */
export const ratesJob = (rates: RateRepository): Job => ({
  name: 'rates',
  everyMs: 60_000,
  run: () => rates.removeEmpty(),
});
