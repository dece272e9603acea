import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { trace } from './process.ts';
import type { Random } from './random.ts';

/** System calls that say what is written, and what is safe. */
const CALLS = 'pwrite64,ftruncate,fsync,fdatasync';

/** What a disk keeps or loses in one piece. */
const SECTOR_BYTES = 512;

/** Watches all that a process writes to a SQLite database, from now on. What is in the files now counts as safe. */
export async function watchPower(pid: number, db: string) {
  const written = `${db}-trace`;
  rmSync(written, { force: true });
  const detach = await trace(pid, ['-f', '-y', '-xx', '-s', '70000', '-o', written, '-e', `trace=${CALLS}`]);
  const disk = new Map([db, `${db}-wal`].map((path) => [path, new File(path)]));
  return {
    /**
     * Once the process is dead: leaves in the files what a disk must hold, which is what was synced, and of the rest a
     * random part. Returns how many writes had not been synced.
     */
    async cut(random: Random): Promise<number> {
      await detach();
      for (const call of readCalls(written)) disk.get(call.path)?.apply(call);
      let lost = 0;
      for (const file of disk.values()) lost += file.loseRest(random);
      rmSync(`${db}-shm`, { force: true }); // memory that processes share, and no file to rely on
      return lost;
    },
  };
}

type Call =
  | { readonly name: 'pwrite64'; readonly path: string; readonly bytes: Buffer; readonly offset: number }
  | { readonly name: 'ftruncate'; readonly path: string; readonly length: number }
  | { readonly name: 'fsync begins' | 'fsync'; readonly path: string; readonly thread: string };

type Change = Extract<Call, { name: 'pwrite64' | 'ftruncate' }>;

/** One file as the disk holds it, and what was written to it since it was last synced. */
class File {
  readonly #path: string;
  #safe: Buffer;
  /** Behind it there is room: a log that grows page by page would else be copied as often. */
  #length: number;
  #pending: Change[] = [];
  /** What a sync of a thread will have made safe: what was written when it began. */
  readonly #syncing = new Map<string, readonly Change[]>();

  constructor(path: string) {
    this.#path = path;
    this.#safe = existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
    this.#length = this.#safe.length;
  }

  apply(call: Call): void {
    if (!('thread' in call)) this.#pending.push(call);
    else if (call.name === 'fsync begins') this.#syncing.set(call.thread, [...this.#pending]);
    else {
      const synced = new Set(this.#syncing.get(call.thread) ?? this.#pending);
      this.#syncing.delete(call.thread);
      for (const change of this.#pending) if (synced.has(change)) this.#settle(change);
      this.#pending = this.#pending.filter((change) => !synced.has(change));
    }
  }

  loseRest(random: Random): number {
    const lost = this.#pending.length;
    const kept = random.pick([0, 10, 50, 90]);
    for (const call of this.#pending) {
      if (call.name === 'ftruncate') {
        if (random.below(100) < kept) this.#settle(call);
        continue;
      }
      for (let from = 0; from < call.bytes.length; from += SECTOR_BYTES) {
        if (random.below(100) >= kept) continue;
        this.#settle({ ...call, bytes: call.bytes.subarray(from, from + SECTOR_BYTES), offset: call.offset + from });
      }
    }
    writeFileSync(this.#path, this.#safe.subarray(0, this.#length));
    return lost;
  }

  #settle(call: Change): void {
    if (call.name === 'ftruncate') {
      // What a file is made longer by is zeros.
      this.#safe = Buffer.concat([this.#safe.subarray(0, Math.min(this.#length, call.length))], call.length);
      this.#length = call.length;
      return;
    }
    const end = call.offset + call.bytes.length;
    if (end > this.#safe.length) this.#safe = Buffer.concat([this.#safe], 2 * end);
    call.bytes.copy(this.#safe, call.offset);
    this.#length = Math.max(this.#length, end);
  }
}

/** Reads what strace wrote down. Calls that failed, or that the kill cut off, are left out. */
function* readCalls(file: string): Generator<Call> {
  const begun = new Map<string, string>();
  for (const line of readFileSync(file, 'latin1').split('\n')) {
    const [, thread = '', text = ''] = /^(\d+) +(.*)$/.exec(line) ?? [];
    if (text.endsWith(' <unfinished ...>')) {
      begun.set(thread, text.slice(0, -' <unfinished ...>'.length));
      const path = /^f(?:data)?sync\(\d+<([^>]*)>/.exec(text)?.[1];
      if (path !== undefined) yield { name: 'fsync begins', path: unhex(path).toString(), thread };
      continue;
    }
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(text);
    const call = parse(thread, resumed ? `${begun.get(thread) ?? ''}${resumed[1]}` : text);
    if (call !== null) yield call;
  }
}

function parse(thread: string, text: string): Call | null {
  const write = /^pwrite64\(\d+<([^>]*)>, "([^"]*)", \d+, (\d+)\) += (\d+)/.exec(text);
  if (write !== null) {
    const [, path = '', data = '', offset, length] = write;
    const bytes = unhex(data).subarray(0, Number(length));
    if (bytes.length !== Number(length)) throw new Error('strace cut a write short');
    return { name: 'pwrite64', path: unhex(path).toString(), bytes, offset: Number(offset) };
  }
  const cut = /^ftruncate\(\d+<([^>]*)>, (\d+)\) += 0/.exec(text);
  if (cut !== null) return { name: 'ftruncate', path: unhex(cut[1] ?? '').toString(), length: Number(cut[2]) };
  const sync = /^f(?:data)?sync\(\d+<([^>]*)>\) += 0/.exec(text);
  return sync === null ? null : { name: 'fsync', path: unhex(sync[1] ?? '').toString(), thread };
}

const unhex = (text: string): Buffer => Buffer.from(text.replaceAll('\\x', ''), 'hex');
