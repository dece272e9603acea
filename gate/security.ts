import { copyCheckout, exitOnSignals, run } from './checkout.ts';
import { type RemovedControl, removedControls } from './removed-controls.ts';

// Takes the controls of docs/security.md away, one at a time, in a copy of the checkout, and runs the test that must
// notice: `npm run test:controls`, or `-- transport` for the rows or tests with this word. Ends with 1 when one did not.

exitOnSignals();
const word = process.argv[2] ?? '';
const chosen = removedControls.filter(({ row, test }) => `${row} ${test}`.includes(word));
using checkout = copyCheckout();
let unnoticed = 0;

for (const removed of chosen) {
  const started = performance.now();
  const ended = await checkout.withFiles({ [removed.file]: (text) => without(text, removed) }, () =>
    run(checkout.path, ['npm', 'run', 'test:all', '--', '--bail=1', '--maxWorkers=1', removed.test]),
  );
  const isNoticed = ended.status !== 0 && /\b[1-9]\d* failed/.test(ended.output);
  const seconds = ((performance.now() - started) / 1_000).toFixed(1);
  print(`${isNoticed ? 'ok    ' : 'WRONG '} ${seconds.padStart(5)} s  ${removed.row} … (${removed.test})`);
  if (isNoticed) continue;
  unnoticed += 1;
  print(`status ${ended.status}\n${ended.output.slice(-2_000)}`);
}

print(unnoticed === 0 ? `${chosen.length} controls were missed` : `${unnoticed} were not missed`);
process.exitCode = unnoticed === 0 && chosen.length > 0 ? 0 : 1;

function without(text: string, { file, from, to }: RemovedControl): string {
  if (text.split(from).length !== 2) throw new Error(`${file} does not hold this once: ${from}`);
  return text.replace(from, () => to);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
