/** Prints a line of a table: a name, and columns of figures. */
export function print(name: string, ...columns: (string | number)[]): void {
  const cells = columns.map((cell) =>
    typeof cell === 'string' ? cell : cell < 10 ? cell.toFixed(2) : cell.toFixed(0),
  );
  process.stdout.write(
    `${name.padEnd(name.startsWith('\n') ? 17 : 16)}${cells.map((cell) => cell.padStart(16)).join('')}\n`,
  );
}
