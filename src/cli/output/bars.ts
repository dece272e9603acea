export interface Bar {
  readonly label: string;
  readonly count: number;
}

/** Renders a bar for each row, the largest as wide as there is room, with the numbers at the right. */
export function renderBars(bars: readonly Bar[], columns: number): string {
  const most = Math.max(1, ...bars.map(({ count }) => count));
  const labelWidth = Math.max(0, ...bars.map(({ label }) => label.length));
  const numberWidth = String(most).length;
  const room = Math.max(1, Math.min(columns - labelWidth - numberWidth - 4, MAX_WIDTH));
  return bars
    .map(({ label, count }) => {
      // What there is at all is to be seen.
      const width = count === 0 ? 0 : Math.max(1, Math.round((count / most) * room));
      const line = `${label.padEnd(labelWidth)}  ${String(count).padStart(numberWidth)}  ${'█'.repeat(width)}`;
      return `${line.trimEnd()}\n`;
    })
    .join('');
}

/** Longer bars are no easier to compare. */
const MAX_WIDTH = 60;
