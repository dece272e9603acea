import type { Instant } from '../contract/scalars.ts';
import type { Caller } from '../domain/access.ts';
import type { Signer } from '../domain/license-file.ts';
import type { IpAddress } from '../domain/mask.ts';
import type { Repositories } from '../store/store.ts';

/** Everything that a use case works with. The repositories of one that changes something are inside a transaction. */
export interface Context {
  readonly repositories: Repositories;
  readonly caller: Caller;
  readonly now: Instant;
  /** The address the request came from. */
  readonly ipAddress: IpAddress;
  /** Unpredictable bytes. */
  random(length: number): Uint8Array;
  /** The key that signs the caller's licence files now. */
  signer(): Promise<Signer>;
}
