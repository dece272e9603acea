/** How long a stream waits without being notified: for what another replica has numbered, in milliseconds. */
const LOOK_EVERY_MS = 500;

/** Wakes the streams of events when there are more. */
export interface EventSignal {
  /** To be called when events were numbered. */
  notify(): void;
  /** Resolves when there may be more events: to false when the stream is to end, as all are or by its signal. */
  wait(ended: AbortSignal): Promise<boolean>;
  /** Ends all streams. */
  close(): void;
}

/** Makes the signal of one server. */
export function createEventSignal(): EventSignal {
  const waiting = new Set<() => void>();
  let isClosed = false;

  function wakeAll(): void {
    for (const wake of waiting) wake();
  }

  return {
    notify: wakeAll,
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
    close() {
      isClosed = true;
      wakeAll();
    },
  };
}
