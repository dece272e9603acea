import { copyCheckout, type Ended, exitOnSignals, run } from './checkout.ts';
import { runCi } from './ci.ts';
import { controls, plants } from './plants.ts';

// Shows that the gate can fail: plants one defect after the other in a copy of the checkout, and runs the part of the
// gate that must find it. Ends with 1 when one is not found, or when a part fails where nothing is planted.

exitOnSignals();
using checkout = copyCheckout();
let failures = 0;

for (const { title, files = {}, command } of controls) {
  await report(`passes: ${title}`, async () => {
    const ended = await checkout.withFiles(files, () => run(checkout.path, command));
    return { ended, isRight: ended.status === 0 };
  });
}
for (const { title, files, env, command, says } of plants) {
  await report(`fails: ${title}`, async () => {
    const ended = await checkout.withFiles(files, () => run(checkout.path, command, env));
    return { ended, isRight: ended.status !== 0 && ended.status !== null && says.test(ended.output) };
  });
}

const whole = runCi(checkout, null);
await report('passes: .ci/run, and counts the tests in its last line', () => ({
  ended: whole,
  isRight: whole.status === 0 && /^6 passed, 0 failed\n$/m.test(whole.output),
}));
const steps = ['ci', 'lint', 'types', 'unused', 'test:gate', 'test', 'test:all'];
await report(`passes: .ci/run has the steps ${steps.join(', ')}`, () => ({
  ended: whole,
  isRight: steps.every((step) => whole.calls.includes(step)),
}));
for (const step of new Set(whole.calls)) {
  await report(`fails: .ci/run, when npm ${step} fails`, () => {
    const ended = runCi(checkout, step);
    return { ended, isRight: ended.status !== 0 && ended.status !== null };
  });
}

print(failures === 0 ? 'the gate can fail' : `${failures} of the gate's parts are not right`);
process.exitCode = failures === 0 ? 0 : 1;

interface Attempt {
  readonly ended: Ended;
  readonly isRight: boolean;
}

async function report(title: string, attempt: () => Attempt | Promise<Attempt>): Promise<void> {
  const start = performance.now();
  const { ended, isRight } = await attempt();
  const seconds = ((performance.now() - start) / 1_000).toFixed(1);
  print(`${isRight ? 'ok    ' : 'WRONG '} ${seconds.padStart(5)} s  ${title}`);
  if (isRight) return;
  failures += 1;
  print(`status ${ended.status}\n${ended.output.slice(-4_000)}`);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
