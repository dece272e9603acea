/** How many streams may be open at one time, and of one token. */
const [MAX_STREAMS, MAX_STREAMS_PER_TOKEN] = [128, 16];

/** How long a stream waits without being notified: for what another replica has numbered, in milliseconds. */
const LOOK_EVERY_MS = 500;

/** The open streams of events of one server. */
export type EventStreams = ReturnType<typeof createEventStreams>;

/** Limits how many streams of events are open at one time, and wakes them when there are more events. */
export function createEventStreams() {
  /** The token of each. */
  const open: string[] = [];
  const waiting = new Set<() => void>();
  let isClosed = false;

  function notify(): void {
    for (const wake of waiting) wake();
  }

  return {
    /** Takes one of the places of a token; false when there is none. */
    enter(tokenId: string): boolean {
      const own = open.filter((one) => one === tokenId);
      if (open.length >= MAX_STREAMS || own.length >= MAX_STREAMS_PER_TOKEN) return false;
      open.push(tokenId);
      return true;
    },
    leave(tokenId: string): void {
      open.splice(open.indexOf(tokenId), 1);
    },
    /** To be called when events were numbered. */
    notify,
    /** Resolves when there may be more events: to false when the stream is to end, as all are or by its signal. */
    wait: (ended: AbortSignal): Promise<boolean> =>
      new Promise((resolve) => {
        if (isClosed || ended.aborted) return resolve(false);
        const wake = () => {
          clearTimeout(timer);
          waiting.delete(wake);
          ended.removeEventListener('abort', wake);
          resolve(!isClosed && !ended.aborted);
        };
        const timer = setTimeout(wake, LOOK_EVERY_MS).unref();
        waiting.add(wake);
        ended.addEventListener('abort', wake, { once: true });
      }),
    /** Ends all streams. */
    close(): void {
      isClosed = true;
      notify();
    },
  };
}
