/** How many streams may be open at one time, and of one token. */
const [MAX_STREAMS, MAX_STREAMS_PER_TOKEN] = [128, 16];

/** How long a stream waits without being told: for what another replica has numbered, in milliseconds. */
const LOOK_EVERY_MS = 500;

/** Tells the streams of events when there are more. */
export interface News {
  /** To be called when events were numbered. */
  announce(): void;
  /** Resolves when there may be more events: to false when the stream is to end, as all are or by its signal. */
  wait(ended: AbortSignal): Promise<boolean>;
  /** Takes one of the places of a token; false when there is none. */
  enter(tokenId: string): boolean;
  leave(tokenId: string): void;
  /** Ends all streams. */
  close(): void;
}

/** Makes the news of one server. */
export function createNews(): News {
  const waiting = new Set<() => void>();
  const open = new Map<string, number>();
  let total = 0;
  let isClosed = false;

  function wakeAll(): void {
    for (const wake of waiting) wake();
  }

  return {
    announce: wakeAll,
    wait: (ended) =>
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
    enter(tokenId) {
      const own = open.get(tokenId) ?? 0;
      if (total >= MAX_STREAMS || own >= MAX_STREAMS_PER_TOKEN) return false;
      total += 1;
      open.set(tokenId, own + 1);
      return true;
    },
    leave(tokenId) {
      const own = (open.get(tokenId) ?? 1) - 1;
      total -= 1;
      if (own > 0) open.set(tokenId, own);
      else open.delete(tokenId);
    },
    close() {
      isClosed = true;
      wakeAll();
    },
  };
}
