import { writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { instrument, RECORDER, type Recorder } from './instrument.ts';

// Preloaded by trace.ts into the process of the command. Writes to LKM_TRACE_FILE which files ran functions, in order.

const root = fileURLToPath(new URL('../', import.meta.url));
const sources = new URL('../src/', import.meta.url).href;

/** The files of which a function has run, in the order of their first call. */
const called = new Set<string>();
/** The same without the calls that the top-level code of a module made while it was loaded. */
const calledAfterLoading = new Set<string>();
let loading = 0;

const recorder: Recorder = {
  call: (file) => {
    called.add(file);
    if (loading === 0) calledAfterLoading.add(file);
  },
  enter: () => {
    loading += 1;
  },
  exit: () => {
    loading -= 1;
  },
};
Object.assign(globalThis, { [RECORDER]: recorder });

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (!url.startsWith(sources) || loaded.source === undefined || loaded.source === null) return loaded;
    const file = relative(root, fileURLToPath(url)).replaceAll('\\', '/');
    const text = typeof loaded.source === 'string' ? loaded.source : new TextDecoder().decode(loaded.source);
    return { ...loaded, source: instrument(file, text) };
  },
});

process.once('exit', () => {
  const trace = { called: [...called], calledAfterLoading: [...calledAfterLoading] };
  writeFileSync(process.env.LKM_TRACE_FILE ?? '', JSON.stringify(trace));
});
