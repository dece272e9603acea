import { checkRecord } from './check-record.ts';
import { type Intent, isSuccess, type Ledger, nameOf } from './ledger.ts';
import { fail, type Report } from './report.ts';
import { markedTables, type Snapshot } from './snapshot.ts';

/**
 * Compares what was acknowledged with what is there: every acknowledged effect is there and as it was answered, none
 * is there twice or without an intent, each key was answered in one way, no licence holds more than its slots,
 * no secret can be read, and everything is recorded once.
 */
export function check(report: Report, { intents }: Pick<Ledger, 'intents'>, rows: Snapshot): void {
  for (const intent of intents) checkIntent(report, intent, rows);
  const known = new Set(intents.map(({ mark }) => mark));
  for (const table of markedTables) {
    for (const mark of rows[table].keys()) {
      if (!known.has(mark)) fail(report, 'doubled', `a row of ${table} that nobody asked for`);
    }
  }
  checkSlots(report, rows);
  checkSecrets(report, intents, rows);
  checkRecord(report, rows);
  for (const line of rows.damage) fail(report, 'lost', `the file is damaged: ${line}`);
}

function checkIntent(report: Report, intent: Intent, rows: Snapshot): void {
  const { operation, mark, target, answers, undoneBy } = intent;
  const name = operation.name;
  const [first] = answers;
  const times = operation.effects(rows, mark, target);

  if (new Set(answers.map(({ status, type, body }) => JSON.stringify([status, type, body]))).size > 1) {
    const ways = [...new Set(answers.map(nameOf))].join(', ');
    fail(report, 'doubled', `${name} was answered in more than one way: ${ways}`);
  }
  if (answers.filter(({ replayed }) => !replayed).length > 1) fail(report, 'doubled', `${name} ran more than once`);
  if (times > 1) fail(report, 'doubled', `${name} has happened ${times} times`);
  if (first === undefined) return;

  if (isSuccess(first)) {
    if (first.status !== operation.status) fail(report, 'wrong', `${name} was answered ${first.status}`);
    // A later intent has, or may have, undone this one.
    if ((undoneBy?.sent ?? 0) > 0) return;
    const agrees = operation.agrees?.(rows, mark, JSON.parse(first.body)) ?? true;
    if (times === 0) fail(report, 'lost', `${name} was acknowledged and has not happened`);
    else if (!agrees) fail(report, 'lost', `${name} is not as it was answered`);
    return;
  }
  const refusal = nameOf(first);
  if (!operation.refusals?.includes(refusal)) {
    // What is made once and asked for once is refused only when it was there, or gone, before.
    const again = ['404/1', '404/2', '403/2', '409/2'].includes(refusal);
    fail(report, again ? 'doubled' : 'wrong', `${name} was refused with ${refusal}`);
  } else if (times > 0) fail(report, 'doubled', `${name} has happened although it was refused with ${refusal}`);
}

function checkSlots(report: Report, rows: Snapshot): void {
  const devices = Map.groupBy([...rows.devices.values()].flat(), (device) => device.license_id);
  for (const { id, activations, max_activations } of [...rows.licenses.values()].flat()) {
    const count = devices.get(id)?.length ?? 0;
    if (count !== activations) fail(report, 'overActivated', `${activations} activations and ${count} devices`);
    if (max_activations !== null && count > max_activations) {
      fail(report, 'overActivated', `${count} devices in ${max_activations} slots`);
    }
  }
}

/** Neither an idempotency key nor a response can be read in what is stored under the key. */
function checkSecrets(report: Report, intents: readonly Intent[], rows: Snapshot): void {
  const keys = new Set(intents.map(({ key }) => key));
  for (const { key_hash, sealed_response } of rows.idempotency) {
    if (keys.has(key_hash)) fail(report, 'wrong', 'an idempotency key is stored as it is');
    const stored = sealed_response ?? '';
    const readable = [stored, Buffer.from(stored, 'base64url').toString('latin1')];
    if (readable.some((text) => ANY_RESPONSE.test(text))) fail(report, 'wrong', 'a response is stored as it is');
  }
}

/** What is in every response of the service; the slashes are of JSON in JSON. */
const ANY_RESPONSE = /\\?"(?:code|file)\\?":/;

/** Counts the intents that were acknowledged, and those without an end. */
export function tally(report: Report, { intents }: Pick<Ledger, 'intents'>): void {
  for (const { operation, answers, sent } of intents) {
    const [first] = answers;
    if (first !== undefined && isSuccess(first)) report.acknowledged += 1;
    if (first === undefined && sent > 0) fail(report, 'wrong', `${operation.name} never came to an end`);
  }
}
