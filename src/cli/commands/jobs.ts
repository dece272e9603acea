import { parseConcurrency, resultFields } from '../bulk/options.ts';
import { argument, command, flag, option } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { UsageError } from '../failure/errors.ts';
import type { CommandResult, Field } from '../output/result.ts';
import { relative } from '../output/words.ts';
import { fieldsShown, listOf } from './results.ts';

const run = argument('<ID>', 'the run: its id or the start of it, or its name');

const concurrency = option('--concurrency <N>', 'how many rows go at a time at most (96)', parseConcurrency);

export const runFields: readonly Field[] = [
  { name: 'id' },
  { name: 'name', drops: 2 },
  { name: 'command' },
  { name: 'file', cuts: true, drops: 3 },
  { name: 'rows', isNumber: true },
  { name: 'done', isNumber: true },
  { name: 'failed', isNumber: true },
  { name: 'unknown', isNumber: true, drops: 1 },
  { name: 'open', isNumber: true },
  { name: 'createdAt', label: 'started', show: relative, drops: 4 },
  ...fieldsShown('data', 'origin'),
];

export const jobsList = command({
  about: 'Lists the bulk runs of this user on this machine, oldest first: how many rows are done, failed and open.',
  fields: runFields,
  examples: [['lkm jobs list', 'what has run, and what has not ended']],

  async run(_, context) {
    const { describeRuns } = await import('../bulk/jobs.ts');
    const rows = await describeRuns(context);
    const empty = 'no bulk run yet; lkm keys create --count N, or -f FILE, makes one';
    return listOf(rows, empty);
  },
});

const shown = resultFields(['reference', 'name', 'email', 'id', 'key', 'expirationDate'].map((name) => ({ name })));

export const jobsShow = command({
  about:
    'Shows the rows of a bulk run with their results, as they are now; sends nothing. With --failed, the failed rows as ' +
    'they were sent: in csv a file that can be corrected and sent as a run of its own.',
  arguments: { run },
  options: { failed: flag('--failed', 'only the rows that failed, with what was sent and why it was refused') },
  fields: shown,
  examples: [
    ['lkm jobs show k3f9q2m7x1ab', 'row by row'],
    ['lkm jobs show k3f9q2m7x1ab --failed -o failed.csv', 'what is to be corrected'],
  ],

  async run({ run, failed }, context) {
    const { showRun, showFailed } = await import('../bulk/jobs.ts');
    return failed ? showFailed(run, context) : showRun(run, context);
  },
});

export const jobsResume = command({
  about: 'Sends the rows of a bulk run that are open, and prints the results of all rows. No row is done twice.',
  arguments: { run },
  options: { concurrency },
  fields: shown,
  ownsOutput: () => true,
  examples: [['lkm jobs resume k3f9q2m7x1ab -o keys.csv', 'go on where it ended']],
  run: ({ run, concurrency }, context) => takeUp(context, run, { concurrency }),
});

export const jobsRetry = command({
  about:
    'Sends the failed rows of a bulk run once more, as new requests, and those that are open. Rows whose outcome is ' +
    'unknown are sent with --unknown only: they may have been done.',
  arguments: { run },
  options: { concurrency, unknown: flag('--unknown', 'also rows of which it is not known whether they were done') },
  fields: shown,
  ownsOutput: () => true,
  examples: [['lkm jobs retry k3f9q2m7x1ab', 'the product is active again']],
  run: ({ run, concurrency, unknown }, context) => takeUp(context, run, { concurrency, retry: { unknown } }),
});

interface TakeUp {
  readonly concurrency: number | undefined;
  readonly retry?: { readonly unknown: boolean };
}

async function takeUp(context: CommandContext, text: string, how: TakeUp): Promise<CommandResult> {
  const { findBulkRun } = await import('../bulk/jobs.ts');
  const { originOf } = await import('../request/changes.ts');
  const { finishRun } = await import('../bulk/finish-run.ts');
  const opened = await findBulkRun(text, context);
  const { id, origin } = opened.run;
  const called = originOf(await context.target());
  if (called !== origin) {
    throw new UsageError(`run ${id} is of ${origin}, and this command is about to call ${called}`, [
      'Nothing was sent. Name the service of the run, as its first command did.',
    ]);
  }
  return finishRun(context, opened, { ...how, writesOwnFile: true });
}
