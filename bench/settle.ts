import { setTimeout as sleep } from 'node:timers/promises';
import type { Running } from './measure.ts';

/** Waits until everything that was recorded has been sent; returns how many events that are. */
export async function settle(server: Pick<Running, 'call'>): Promise<number> {
  for (let before = -1; ; await sleep(POLL_MS)) {
    const { meta } = await server.call<{ meta: { last: number } }>('GET', `/event/list?after=${BEHIND_ALL}`);
    const webhooks = await listWebhooks(server);
    if (meta.last === before && webhooks.every(({ lastSeq }) => lastSeq >= meta.last)) return meta.last;
    before = meta.last;
  }
}

/** How often it is looked whether all was sent, in milliseconds. */
const POLL_MS = 100;

/** No event has this number: the list is empty, and says which is the last one. */
const BEHIND_ALL = 999_999_999;

/** The webhooks of a server, and how far each has come. */
export async function listWebhooks(
  server: Pick<Running, 'call'>,
): Promise<readonly { readonly id: string; readonly lastSeq: number }[]> {
  return (await server.call<{ data: { id: string; lastSeq: number }[] }>('GET', '/webhook')).data;
}
