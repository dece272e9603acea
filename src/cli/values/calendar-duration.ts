import { type Duration, durationField } from '../../contract/fields.ts';
import { UsageError } from '../failure/errors.ts';
import { readParts, refuseAmbiguous } from './duration.ts';

const toDuration = durationField();

/**
 * A length of time by the calendar: ISO 8601 (`P1Y`, `P14D`), or as durations are written elsewhere (`1y`, `2w`). A bare
 * `6m` is refused: it can mean months or minutes. Throws `UsageError`.
 */
export function parseCalendarDuration(text: string): Duration {
  const written = toDuration.safeParse(text);
  if (written.success) return written.data;
  refuseAmbiguous(text);
  const parts = readParts(text);
  if (!parts) throw new UsageError(`'${text}' is not a duration such as P1Y, P14D, 1y, 30d or 12h`);
  const { years, months, days, ms } = parts;
  const seconds = ms / 1_000;
  const rest = {
    hours: Math.floor(seconds / 3_600),
    minutes: Math.floor((seconds % 3_600) / 60),
    seconds: seconds % 60,
  };
  const duration = { years, months, weeks: 0, days, ...rest };
  if (Object.values(duration).some((amount) => amount > 9_999)) throw new UsageError(`'${text}' is too long`);
  return duration;
}
