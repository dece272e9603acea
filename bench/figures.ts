/** The one in the middle. */
export const middle = (figures: readonly number[]): number => quantile(figures, 0.5);

/** The one that such a part of them does not exceed. */
export function quantile(figures: readonly number[], part: number): number {
  const figure = figures.toSorted((a, b) => a - b)[Math.floor(figures.length * part)];
  if (figure === undefined) throw new Error('nothing was measured');
  return figure;
}

/** Prints a line of a table: a name, and columns of figures. */
export function print(name: string, ...columns: (string | number)[]): void {
  const cells = columns.map((cell) => (typeof cell === 'string' ? cell : cell.toFixed(cell < 10 ? 2 : 0)));
  const row = cells.map((cell) => cell.padStart(16)).join('');
  process.stdout.write(`${name.padEnd(name.startsWith('\n') ? 17 : 16)}${row}\n`);
}
