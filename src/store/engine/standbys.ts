/** A hot standby that reads may go to. */
export interface StandbyState {
  /** Where it is, without user and password. */
  readonly name: string;
  /** Why reads do not go to it; null while they do. */
  readonly problem: string | null;
}

/** How the standbys of a database are doing. */
export interface Standbys {
  /** Reads that a standby could have answered, by the server that did. */
  readonly reads: { readonly standby: number; readonly primary: number };
  list(): readonly StandbyState[];
  /** Calls `listener` with each standby that reads go to from now on, or go to no more. */
  onChange(listener: (state: StandbyState) => void): void;
}
