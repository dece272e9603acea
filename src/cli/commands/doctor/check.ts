/** What one check found. */
export interface Check {
  readonly check: string;
  readonly status: 'ok' | 'warn' | 'fail';
  readonly detail: string;
  /** What to do about it; null when there is nothing to do. */
  readonly advice: string | null;
}

export const ok = (check: string, detail: string): Check => ({ check, status: 'ok', detail, advice: null });

export const warn = (check: string, detail: string, advice: string): Check => ({
  check,
  status: 'warn',
  detail,
  advice,
});

export const fail = (check: string, detail: string, advice: string): Check => ({
  check,
  status: 'fail',
  detail,
  advice,
});
