import { setTimeout as sleep } from 'node:timers/promises';

/** Clients that make events: customers, each of which is one. */
interface Producing {
  /** Whether all were acknowledged. */
  isDone(): boolean;
  /** How many were acknowledged until now. */
  acknowledged(): number;
  /**
   * Waits until all were acknowledged; returns the ids of the customers, in the order of their acknowledgements. Gives up
   * when it is late.
   */
  end(isLate: () => boolean): Promise<ReadonlySet<string>>;
}

interface ProducingParts {
  /** Some server that is there. */
  urlOf(attempt: number): string | undefined;
  readonly token: string;
  readonly count: number;
  /** How many may have been asked for by now. */
  allowed(): number;
}

const CLIENTS = 8;

const REQUEST_MS = 5_000;

const PAUSE_MS = 50;

/** Starts the clients. A request that gets no response is made again, under the same idempotency key. */
export function startProducing({ urlOf, token, count, allowed }: ProducingParts): Producing {
  const made = new Set<string>();
  let next = 0;
  let isOver = false;

  async function post(path: string, key: string, body: object): Promise<{ readonly id: string } | null> {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'idempotency-key': key };
    for (let attempt = 0; !isOver; attempt += 1) {
      const url = urlOf(attempt);
      const init = { method: 'POST', headers, body: JSON.stringify(body), signal: AbortSignal.timeout(REQUEST_MS) };
      const response = url === undefined ? null : await fetch(`${url}${path}`, init).catch(() => null);
      const text = await response?.text().catch(() => null);
      if (response?.status === 201 && typeof text === 'string') return JSON.parse(text).data;
      const isAgain = response === null || response.status >= 500 || response.status === 409 || text === null;
      if (!isAgain) throw new Error(`POST ${path} answered ${response?.status} ${text}`);
      await sleep(PAUSE_MS);
    }
    return null;
  }

  async function work(): Promise<void> {
    while (next < count && !isOver) {
      if (next >= allowed()) {
        await sleep(PAUSE_MS);
        continue;
      }
      next += 1;
      const name = `customer ${next}`;
      const customer = await post('/customer', name, { name, email: `${next}@customers.example` });
      if (customer !== null) made.add(customer.id);
    }
  }

  const working = Promise.all(Array.from({ length: CLIENTS }, work));
  working.catch(() => {}); // is seen by `end`
  return {
    isDone: () => made.size === count,
    acknowledged: () => made.size,
    async end(isLate) {
      while (made.size < count && !isLate()) await Promise.race([working, sleep(200)]);
      isOver = true;
      await working;
      return made;
    },
  };
}
