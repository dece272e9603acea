/** What is needed of a refusal to judge it. */
interface Refusal {
  readonly status: number;
  readonly code: number;
}

/** The refusal of a request whose idempotency key is still running. Source: API description, "Idempotency", 4 and 6. */
export const isInProgress = ({ status, code }: Refusal): boolean => status === 409 && code === 3;

/** Whether a mutation refused like this may have happened all the same. A 503 says that it was not run (rule 5). */
export const mayHaveRun = (refusal: Refusal): boolean =>
  [500, 502, 504].includes(refusal.status) || isInProgress(refusal);

/**
 * Whether the refusal also answers for the attempts before it. Only what comes from behind the idempotency key does:
 * a token, scope, size, rate or storage refusal says nothing of what an earlier attempt did.
 */
export const settles = ({ status, code }: Refusal): boolean =>
  [400, 404, 409].includes(status) || (status === 403 && code !== 1);
