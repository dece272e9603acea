import type * as customers from '../contract/customers.ts';
import type * as events from '../contract/events.ts';
import type * as licenses from '../contract/keys/licenses.ts';
import type * as products from '../contract/products.ts';
import type * as tokens from '../contract/tokens.ts';
import type * as webhooks from '../contract/webhooks/webhook.ts';
import type { Closed } from './client.ts';

/** A licence key with its limits, its state and its devices. */
export type License = Closed<licenses.License>;

/** A device that holds an activation slot of a key. */
export type Device = Closed<licenses.Device>;

export type Customer = Closed<customers.Customer>;

export type Product = Closed<products.Product>;

export type Token = Closed<tokens.Token>;

/** One thing that happened. */
export type Event = Closed<events.Event>;

export type Webhook = Closed<webhooks.Webhook>;
