import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { installed } from '../support/installed.ts';

/** Stands for npx in a checkout: it runs what is there, and would ask the registry without `--no-install`. */
const npx = '#!/bin/sh\n[ "$1 $2" = "--no-install lkm" ] || exit 99\nshift 2\nexec lkm "$@"\n';

/** Runs a script in a folder in which a person stands, with `lkm` and `npx` on the path. */
async function shell(script: string, env: Readonly<Record<string, string>>) {
  const place = installed(env);
  writeFileSync(join(place.tools, 'npx'), npx, { mode: 0o755 });
  return place.shell(`set -e\n${script}`);
}

/** The command lines of a page, in order. */
const linesOf = (page: string): string[] =>
  [...page.replaceAll(/\\\n\s+/g, '').matchAll(/^ {4}\$ (.*)$/gm)].map(([, line = '']) => line);

/** Waits for the server that runs in the background. */
const UNTIL_SERVED = 'for i in $(seq 200); do lkm -p local whoami >/dev/null 2>&1 && break; sleep 0.1; done';

describe('every line that lkm quickstart shows', { timeout: 180_000 }, () => {
  it.each([
    ['in a shell', {}],
    ['through npx in a checkout', { npm_command: 'exec' }],
    ['beside the address of a service', { LKM_BASE_URL: 'https://licensing.example.com' }],
  ])('works when it is pasted where the person stands: %s', async (_, env) => {
    const { stdout: page } = await shell('lkm quickstart', env);
    const lines = linesOf(page);
    expect(lines.length).toBeGreaterThan(10);
    expect(lines.filter((line) => /\bcd\b/.test(line))).toEqual([]);
    const typed = lines
      // It goes on in a terminal of its own, at the port that the next line finds.
      .map((line) => (line.includes('lkm serve') ? `${line} --port 0 >/dev/null 2>&1 & ${UNTIL_SERVED}` : line))
      // A device that the file was not made for: the verdict is the exit code.
      .map((line) => (line.includes('laptop-9') ? `! ${line}` : line));
    const { stdout } = await shell(`trap 'kill $(jobs -p)' EXIT\n${typed.join('\n')}\necho "all of them"`, env);
    expect(stdout).toMatch(/\nok\n[\s\S]*machine_mismatch\n/);
    expect(stdout).toMatch(/\nall of them\n$/);
  });
});
