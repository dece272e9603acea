/** What the exit code of the command means; scripts rely on it. */
export const exitCodes = {
  ok: 0,
  internal: 1,
  usage: 2,
  notConfirmed: 3,
  unauthenticated: 4,
  forbidden: 5,
  notFound: 6,
  conflict: 7,
  outcomeUnknown: 8,
  rateLimited: 9,
  serverError: 10,
  network: 11,
  partial: 12,
  local: 13,
  interrupted: 130,
  terminated: 143,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];
