import { parentPort, workerData } from 'node:worker_threads';
import { createRandom } from '../../service/context.ts';
import { openReading } from '../../store/reading.ts';
import { errorToData, type Message, type Part, type ReadJob, type ThreadData } from './job.ts';

// The thread that reads lists, numbers and exports of a SQLite database, and copies its log.

const { path, masterKey } = workerData as ThreadData;
const database = openReading(path, { masterKey, random: createRandom() });
/** The remaining parts of each response, by the number of its read. */
const begun = new Map<number, AsyncIterator<Part>>();

parentPort?.on('message', async (message: Message) => {
  if (message === 'copyLog') return (await database).copyLog();
  const { id, next } = message;
  if (next === 'nothing') return void take(id)?.return?.();
  try {
    const part = await (next === 'part' ? nextPart(id) : begin(id, next));
    if (part.isLast) begun.delete(id);
    parentPort?.postMessage({ id, part });
  } catch (error) {
    begun.delete(id);
    parentPort?.postMessage({ id, ...errorToData(error) });
  }
});

async function begin(id: number, job: ReadJob): Promise<Part> {
  const { repositories } = await database;
  // Loaded with the first read: a thread that only copies the log does not need the service.
  const { createPerformer } = await import('./perform.ts');
  begun.set(id, createPerformer(repositories)(job));
  return nextPart(id);
}

async function nextPart(id: number): Promise<Part> {
  const next = await begun.get(id)?.next();
  if (next === undefined || next.done) throw new Error('the thread that had begun this response has ended');
  return next.value;
}

/** Removes and returns the remaining parts of a response. */
function take(id: number): AsyncIterator<Part> | undefined {
  const parts = begun.get(id);
  begun.delete(id);
  return parts;
}
