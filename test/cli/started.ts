import { run } from '../../src/cli/run.ts';
import { fakeIo, type Surroundings } from './fake-io.ts';

/** A server on a free port, and what it printed once it was ready. */
export async function started(argv: string[], surroundings: Surroundings = {}) {
  const controller = new AbortController();
  const { io, printed } = fakeIo({ ...surroundings, stop: controller.signal });
  const ready = Promise.withResolvers<void>();
  const watched = (output: typeof io.stdout, isReady: (text: string) => boolean) => ({
    ...output,
    write: async (text: string) => {
      const isTaken = await output.write(text);
      if (isReady(text)) ready.resolve();
      return isTaken;
    },
  });
  const stdout = watched(io.stdout, (text) => text.includes('"ready"'));
  const stderr = watched(io.stderr, (text) => text.includes('ready at'));
  const ended = run(['serve', '--port', '0', ...argv], { ...io, stdout, stderr });
  await Promise.race([ready.promise, ended]);
  const stop = async () => {
    controller.abort('SIGTERM');
    return ended;
  };
  return { printed, stop };
}
