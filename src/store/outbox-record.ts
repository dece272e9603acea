import type { EventType, JsonObject, ResourceType } from '../contract/events.ts';
import type { AccountId, Instant } from '../contract/scalars.ts';
import type { IpAddress } from '../domain/ip-address.ts';

/** A mutation with its events, before they have their numbers. */
export interface OutboxEntry {
  readonly actor: { readonly type: string; readonly id: string };
  readonly address: IpAddress | null;
  /** Random, base64url; null where there is no address to hide. */
  readonly salt: string | null;
  /** How the request came in: `http`, `db` or `job`. */
  readonly door: string;
  readonly requestId: string | null;
  readonly operation: string;
  readonly outcome: string;
  readonly resource: { readonly type: string; readonly id: string } | null;
  readonly details: JsonObject;
  readonly events: readonly {
    readonly id: string;
    readonly type: EventType;
    readonly resource: { readonly type: ResourceType; readonly id: string };
    readonly data: JsonObject;
  }[];
}

/** A staged entry. */
export interface OutboxRecord {
  readonly accountId: AccountId;
  readonly id: string;
  readonly at: Instant;
  readonly entry: OutboxEntry;
}
