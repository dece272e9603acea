import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { commandEntries } from '../src/cli/tree.ts';

// Writes down which command line does the same as an endpoint: its first example. The document of the service shows it, and
// the contract does not know the command. `npm run openapi`.

const FILE = 'src/contract/openapi/command-lines.ts';

/** By the names of endpoints. */
export async function listCommandLines(): Promise<Readonly<Record<string, string>>> {
  const lines: Record<string, string> = {};
  for (const entry of commandEntries) {
    const { operation, examples } = await entry.load();
    const [line] = examples[0] ?? [];
    if (operation && line) lines[operation] ??= line;
  }
  return lines;
}

if (import.meta.main) {
  const entries = JSON.stringify(await listCommandLines(), null, 2);
  writeFileSync(
    FILE,
    `/** A command line that does the same as an endpoint, by its name. Made from the commands by \`npm run openapi\`. */
export const commandLines: Readonly<Record<string, string>> = ${entries};
`,
  );
  execFileSync('node_modules/.bin/biome', ['format', '--write', FILE], { stdio: 'ignore' });
}
