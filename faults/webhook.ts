import { setTimeout as sleep } from 'node:timers/promises';
import type { Receiver } from './receiver.ts';
import type { Snapshot } from './snapshot.ts';
import type { World } from './world.ts';

/** How long to wait before the database is read again. */
const PAUSE_MS = 200;

/** Makes the only webhook of an account, in place of those that are there; returns the number of its first event. */
export async function addWebhook(server: string, token: string, url: string): Promise<number> {
  const call = async (method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const response = await fetch(`${server}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status} ${text}`);
    return JSON.parse(text).data;
  };
  for (const { id } of await call('GET', '/webhook')) await call('DELETE', `/webhook/by-id?webhookId=${id}`);
  return (await call('POST', '/webhook', { url })).lastSeq + 1;
}

/** What a database holds once deliveries have settled, and the events that were to be sent. */
interface Settled {
  readonly snapshot: Snapshot;
  readonly events: Snapshot['record']['events'];
  /** How many of the events the receiver has never accepted. */
  readonly missing: number;
}

/** Waits until the receiver has accepted every event of the record from `first` on, or the time is over. */
export async function settle(world: World, { sent }: Receiver, first: number, maxMs: number): Promise<Settled> {
  const deadline = performance.now() + maxMs;
  for (;;) {
    const snapshot = await world.read();
    const events = snapshot.record.events.filter(({ seq }) => seq >= first);
    const missing = events.filter(({ seq }) => (sent.get(seq)?.accepted ?? 0) === 0).length;
    const isDone = missing === 0 && snapshot.record.outbox.length === 0;
    if (isDone || performance.now() > deadline) return { snapshot, events, missing };
    await sleep(PAUSE_MS);
  }
}
