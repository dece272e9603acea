import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { DELIVERIES, deliveryJob } from '../src/server/jobs/deliveries.ts';
import { createJobs } from '../src/server/jobs/job.ts';
import { gather, SEQUENCER, sequencerJob } from '../src/server/jobs/sequencer.ts';
import type { Base } from '../src/server/runtime.ts';
import { createDeliverer } from '../src/server/webhooks/deliverer.ts';
import { createSender, type Sender } from '../src/server/webhooks/send.ts';
import type { Recorder } from '../src/service/record.ts';
import type { Sabotage } from './sabotage.ts';
import type { ServerSetup } from './server-process.ts';

/** The background work of a server that numbers and delivers events, with a protection taken away. */
export interface Delivering {
  readonly onRecorded: () => void;
  readonly record: Recorder;
  stop(): Promise<void>;
}

/** How long the commit comes after what was sent for it. */
const LATE_MS = 5;

/** Starts numbering and delivering. */
export function startDelivering(
  name: Sabotage,
  { parts, store }: Pick<Base, 'parts' | 'store'>,
  { record: recorder, webhooks }: { readonly record: Recorder; readonly webhooks: ServerSetup['webhooks'] },
): Delivering {
  const log = pino({ enabled: false });
  const jobs = createJobs({ store, log });
  const sender = createSender({ allowPrivate: true, ...webhooks });
  const onRecorded = gather(() => jobs.wake(SEQUENCER));
  const record = name === 'sent-early' ? sendEarly(recorder, sender) : recorder;
  const deliverer = createDeliverer(
    {
      ...parts,
      ...{ record, onRecorded, log },
      ...{ schedule: webhooks?.schedule, leaseSeconds: webhooks?.leaseSeconds },
      sender: name === 'refused-is-final' ? endWithRefusal(sender) : sender,
    },
    randomUUID,
  );
  jobs.start([sequencerJob(store, onRecorded, () => jobs.wake(DELIVERIES)), deliveryJob(deliverer, true)]);
  return {
    onRecorded,
    record,
    async stop() {
      await jobs.stop();
      await deliverer.stop();
      sender.close();
    },
  };
}

/** A connection that is refused counts as the end of its event. */
const endWithRefusal = (sender: Sender): Sender => ({
  ...sender,
  async send(attempt) {
    const outcome = await sender.send(attempt);
    return outcome?.error === 'connection refused' ? { ...outcome, accepted: true } : outcome;
  },
});

/** Sends what is recorded to every webhook before the transaction has committed, with the number that it might get. */
function sendEarly(record: Recorder, { send }: Sender): Recorder {
  return async (repositories, mutation) => {
    await record(repositories, mutation);
    if (!('webhooks' in repositories)) return;
    const { webhooks, recordHeads } = repositories as Parameters<Parameters<Base['store']['transaction']>[0]>[0];
    const head = await recordHeads.find(mutation.accountId);
    for await (const { url } of webhooks.list(mutation.accountId).all()) {
      const body = JSON.stringify({ seq: (head?.eventSeq ?? 0) + 1, id: randomUUID() });
      void send({ url, headers: {}, body, signal: new AbortController().signal });
    }
    await sleep(LATE_MS);
  };
}
