import { UsageError } from '../failure/errors.ts';

const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, y: 365 * 86_400_000 };

const shape = /^(\d{1,9})([smhdy])$/;

export const isDuration = (text: string): boolean => shape.test(text);

/** A duration such as `90s`, `15m`, `12h`, `30d` or `1y` (365 days), in milliseconds. */
export function parseDuration(text: string): number {
  const [, amount, unit] = shape.exec(text) ?? [];
  if (!unit) throw new UsageError(`'${text}' is not a duration such as 90s, 15m, 12h, 30d or 1y`);
  return Number(amount) * unitMs[unit as keyof typeof unitMs];
}

/** The same in seconds. */
export const parseSeconds = (text: string): number => parseDuration(text) / 1_000;
