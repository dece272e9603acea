import { setTimeout as sleep } from 'node:timers/promises';

/** Clients that make events: customers, each of which is one. */
interface Producing {
  /** How many were acknowledged until now. */
  acknowledged(): number;
  /** Ends; returns the ids of the customers, in the order of their acknowledgements. */
  end(): Promise<ReadonlySet<string>>;
}

interface ProducingParts {
  urlOf(): string;
  readonly token: string;
  /** How many may have been asked for by now. */
  allowed(): number;
}

const CLIENTS = 8;
const REQUEST_MS = 5_000;
const PAUSE_MS = 50;

/** Starts the clients. A request that gets no response is made again, under the same idempotency key. */
export function startProducing({ urlOf, token, allowed }: ProducingParts): Producing {
  const made = new Set<string>();
  let next = 0;
  let isOver = false;

  async function create(name: string): Promise<void> {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'idempotency-key': name };
    const body = JSON.stringify({ name, email: `${name.replace(' ', '-')}@customers.example` });
    while (!isOver) {
      const init = { method: 'POST', headers, body, signal: AbortSignal.timeout(REQUEST_MS) };
      const response = await fetch(`${urlOf()}/customer`, init).catch(() => null);
      const text = await response?.text().catch(() => null);
      if (response?.status === 201 && typeof text === 'string') return void made.add(JSON.parse(text).data.id);
      const isAgain = response === null || response.status >= 500 || response.status === 409 || text === null;
      if (!isAgain) throw new Error(`POST /customer answered ${response?.status} ${text}`);
      await sleep(PAUSE_MS);
    }
  }

  async function work(): Promise<void> {
    while (!isOver) {
      if (next >= allowed()) await sleep(PAUSE_MS);
      else {
        next += 1;
        await create(`customer ${next}`);
      }
    }
  }

  const working = Promise.all(Array.from({ length: CLIENTS }, work));
  working.catch(() => {}); // is seen by `end`
  return {
    acknowledged: () => made.size,
    async end() {
      isOver = true;
      await working;
      return made;
    },
  };
}
