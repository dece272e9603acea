import { mkdtempDisposableSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { type Checkout, type Ended, run } from './checkout.ts';

/** Every npm call of `.ci/run`, in order, and how the script ended. */
export interface CiRun extends Ended {
  readonly calls: readonly string[];
}

/** Runs `.ci/run` with an npm that only notes how it was called, and fails at the step that is named. */
export function runCi(checkout: Checkout, failing: string | null): CiRun {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'lkm-gate-npm-'));
  const calls = join(folder.path, 'calls');
  writeFileSync(calls, '');
  writeFileSync(join(folder.path, 'npm'), STAND_IN, { mode: 0o755 });
  const ended = run(checkout.path, ['bash', '.ci/run'], {
    PATH: [folder.path, process.env.PATH].join(delimiter),
    GATE_CALLS: calls,
    GATE_FAILING: failing ?? 'none',
    // Nothing is to be installed.
    LKM_TEST_VERIFIERS: '',
  });
  return { ...ended, calls: readFileSync(calls, 'utf8').trim().split('\n') };
}

const STAND_IN = `#!/usr/bin/env bash
step=$1; [ "$step" = run ] && step=$2
echo "$step" >> "$GATE_CALLS"
status=0; [ "$step" = "$GATE_FAILING" ] && status=1
for word in "$@"; do
  case $word in
    --outputFile.json=*)
      echo "{\\"numPassedTests\\":3,\\"numFailedTests\\":$status,\\"numFailedTestSuites\\":$status}" > "\${word#*=}" ;;
  esac
done
exit $status
`;
