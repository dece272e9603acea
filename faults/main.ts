/** The option of a run that has it repeat another one. */
export const seedOption = { type: 'string', default: String(Date.now() % 1_000_000) } as const;

/** Prints a line. */
export const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** Prints counts by name. */
export function sayCounts(counts: Readonly<Record<string, number>>): void {
  for (const [name, count] of Object.entries(counts)) say(`  ${name} ${count}`);
}

/** Prints what a run has shown, or that it has failed, and sets the exit code. */
export function conclude(hasPassed: boolean, shown: string): void {
  say(hasPassed ? shown : 'FAILED');
  process.exitCode = hasPassed ? 0 : 1;
}
