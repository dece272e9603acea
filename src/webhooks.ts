/** The entry `lkm/webhooks`: verifies webhooks in the program that receives them, with nothing but Node.js. */
import { isSignedBy } from './domain/webhooks/signature.ts';

/** The headers of a request: of `node:http`, of the Fetch API, or a map. */
export type WebhookHeaders =
  | { get(name: string): string | null | undefined }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** An event as webhooks send it. */
export interface WebhookEvent {
  /** The same at each attempt: an event that was handled before can be skipped. */
  readonly id: string;
  /** Its number in the account: from 1, without gaps. */
  readonly seq: number;
  /** The type of the event: `license.created`. */
  readonly type: string;
  /** The dated contract that it follows. */
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

/** A request is not a webhook that was signed with this secret, or it is an old one. */
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
  { toleranceSeconds = 300, now = new Date() }: VerifyWebhookOptions = {},
): WebhookEvent {
  const id = read(headers, 'webhook-id');
  const written = read(headers, 'webhook-timestamp');
  const signatures = read(headers, 'webhook-signature');
  if (!/^\d{1,12}$/.test(written)) throw new WebhookVerificationError('the time of the webhook is no number');
  const timestamp = Number(written);
  const ageSeconds = now.getTime() / 1_000 - timestamp;
  // Negated, since every comparison with an invalid `now` is false: it must refuse, not let through.
  if (!(ageSeconds <= toleranceSeconds)) throw new WebhookVerificationError('the webhook is too old');
  if (!(ageSeconds >= -toleranceSeconds))
    throw new WebhookVerificationError('the time of the webhook is in the future');
  const secrets = typeof secret === 'string' ? [secret] : secret;
  if (!isSignedBy({ id, timestamp, body }, signatures, secrets)) {
    throw new WebhookVerificationError('the webhook is not signed with this secret');
  }
  return parse(body);
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
