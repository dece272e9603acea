/** The entry `lkm/webhooks`: verifies webhooks in the program that receives them, with nothing but Node.js. */
import { isSignedBy, isTimestampedBy, SIGNATURE_HEADER } from './domain/webhooks/signature.ts';

/** The headers of a request: of `node:http`, of the Fetch API, or a map. */
export type WebhookHeaders =
  | { get(name: string): string | null | undefined }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** An event as webhooks send it. */
export interface WebhookEvent {
  /** The same at each attempt: an event that was handled before can be skipped. */
  readonly id: string;
  /** The number of the event in the account: from 1, without gaps. */
  readonly seq: number;
  /** The type of the event: `license.created`. */
  readonly type: string;
  /** The version of the contract, a date. */
  readonly api_version: string;
  readonly created_at: string;
  readonly resource_type: string;
  readonly resource_id: string;
  readonly actor: { readonly type: string; readonly id: string };
  readonly request_id: string | null;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Options of {@link verifyWebhook}. */
export interface VerifyWebhookOptions {
  /** How far the time of the signature may be from now, in seconds; 300 unless given. */
  readonly toleranceSeconds?: number;
  /** The time to compare with; the present unless given. */
  readonly now?: Date;
}

/** Options of {@link verifyTimestampedWebhook}. */
export interface VerifyTimestampedWebhookOptions extends VerifyWebhookOptions {
  /** The header of the signatures, as `lkm serve --webhook-signature-header` says it; `LKM-Signature` unless given. */
  readonly header?: string;
}

/** A request is not a webhook that was signed with this secret, or it is too old. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
}

/**
 * Checks the signature of a webhook (Standard Webhooks) and returns its event. `body` is the exact body that was received;
 * during a rotation give both secrets. Throws `WebhookVerificationError` for a signature of another secret, a
 * time outside the tolerance and a body that is no event, and `TypeError` for a malformed secret.
 */
export function verifyWebhook(
  headers: WebhookHeaders,
  body: string | Uint8Array,
  secret: string | readonly string[],
  options: VerifyWebhookOptions = {},
): WebhookEvent {
  const id = read(headers, 'webhook-id');
  const written = read(headers, 'webhook-timestamp');
  const signatures = read(headers, 'webhook-signature');
  const timestamp = readTime(written, options);
  if (!isSignedBy({ id, timestamp, body }, signatures, secretsOf(secret))) throw notSigned();
  return parse(body);
}

/**
 * Checks the timestamped signature of a webhook, `t=<seconds>,v1=<hex>`, and returns its event. Takes and throws the same as
 * {@link verifyWebhook}; the secret with its `whsec_`.
 */
export function verifyTimestampedWebhook(
  headers: WebhookHeaders,
  body: string | Uint8Array,
  secret: string | readonly string[],
  { header = SIGNATURE_HEADER, ...options }: VerifyTimestampedWebhookOptions = {},
): WebhookEvent {
  const parts = read(headers, header.toLowerCase()).split(',');
  const valuesOf = (name: string) => parts.flatMap((one) => (one.startsWith(name) ? [one.slice(name.length)] : []));
  // Two times are refused: joined, they are no number.
  const timestamp = readTime(valuesOf('t=').join(), options);
  if (!isTimestampedBy({ timestamp, body }, valuesOf('v1='), secretsOf(secret))) throw notSigned();
  return parse(body);
}

const secretsOf = (secret: string | readonly string[]) => (typeof secret === 'string' ? [secret] : secret);

const notSigned = () => new WebhookVerificationError('the webhook is not signed with this secret');

/** The time of a signature. Throws if it is further from now than the tolerance. */
function readTime(written: string, { toleranceSeconds = 300, now = new Date() }: VerifyWebhookOptions): number {
  if (!/^\d{1,12}$/.test(written)) throw new WebhookVerificationError('the time of the webhook is no number');
  const timestamp = Number(written);
  const ageSeconds = now.getTime() / 1_000 - timestamp;
  // Negated, since every comparison with an invalid `now` is false: it must refuse, not let through.
  if (!(ageSeconds <= toleranceSeconds)) throw new WebhookVerificationError('the webhook is too old');
  if (!(ageSeconds >= -toleranceSeconds))
    throw new WebhookVerificationError('the time of the webhook is in the future');
  return timestamp;
}

function read(headers: WebhookHeaders, name: string): string {
  const value = typeof headers.get === 'function' ? headers.get(name) : find(headers, name);
  if (typeof value === 'string' && value !== '') return value;
  throw new WebhookVerificationError(`the request has no ${name}`);
}

function find(headers: object, name: string): unknown {
  const found = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  return Array.isArray(found) ? found[0] : found;
}

function parse(body: string | Uint8Array): WebhookEvent {
  let event: WebhookEvent | null;
  try {
    event = JSON.parse(typeof body === 'string' ? body : Buffer.from(body).toString('utf8'));
  } catch (cause) {
    throw new WebhookVerificationError('the body of the webhook is not JSON', { cause });
  }
  if (typeof event?.id === 'string' && typeof event.type === 'string') return event;
  throw new WebhookVerificationError('the body of the webhook is not an event');
}
