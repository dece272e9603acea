/** The one in the middle. */
export function middle(figures: readonly number[]): number {
  const figure = figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 2)];
  if (figure === undefined) throw new Error('nothing was measured');
  return figure;
}

/** Prints a line of a table: a name, and columns of figures. */
export function print(name: string, ...columns: (string | number)[]): void {
  const cells = columns.map((cell) => (typeof cell === 'string' ? cell : cell.toFixed(cell < 10 ? 2 : 0)));
  const row = cells.map((cell) => cell.padStart(16)).join('');
  process.stdout.write(`${name.padEnd(name.startsWith('\n') ? 17 : 16)}${row}\n`);
}
