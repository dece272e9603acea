import type { Instant } from '../contract/scalars.ts';
import type { Caller } from '../domain/access.ts';
import type { IpAddress } from '../domain/ip-address.ts';
import type { Signer } from '../domain/license-file/sign.ts';
import type { Repositories } from '../store/store.ts';

/** What a use case knows of an event; the rest follows from its context. */
export interface UseCaseEvent {
  /** What it was done to. */
  readonly subject: string;
  /** Neither secrets nor keys. */
  readonly details?: Readonly<Record<string, string>>;
}

/**
 * Everything that a use case works with. The repositories of one that changes something are inside its transaction, and
 * there is nothing here that reaches a network: no transaction waits for one.
 */
export interface Context {
  readonly repositories: Repositories;
  readonly caller: Caller;
  readonly now: Instant;
  /** The address the request came from. */
  readonly ipAddress: IpAddress;
  /** Unpredictable bytes. */
  random(length: number): Uint8Array;
  /** Records what happened, in the same transaction, under the name of the operation. */
  record(event: UseCaseEvent): Promise<void>;
  /** The key that signs the caller's licence files now. */
  signer(): Promise<Signer>;
}
