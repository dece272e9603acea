import { ci } from './topic-ci.ts';
import { environment } from './topic-environment.ts';
import { exitCodesTopic } from './topic-exit-codes.ts';
import { formatting } from './topic-formatting.ts';
import { idempotency } from './topic-idempotency.ts';

/** What `lkm help TOPIC` explains. */
export const topics = {
  environment,
  'exit-codes': exitCodesTopic,
  formatting,
  idempotency,
  ci,
};
