import type { Paint } from './paint.ts';

/** What a rendering looks at. */
export interface View {
  readonly columns: number;
  readonly now: number;
  readonly paint: Paint;
}
