/** A column, or several of which the first with a value counts. The texts of two are joined by `first + last`. */
export type Source = string | readonly string[];

/** How the files of another system are read: its columns by the fields of lkm. Names are compared without case and punctuation. */
export interface Preset {
  /** Columns that no other system has together. */
  readonly recognisedBy: readonly string[];
  readonly fields: Readonly<Record<string, Source>>;
  /** Columns of days that a key lasts from its first use, where it has no end. */
  readonly daysFromFirstUse?: string;
  /** Values of columns with which a key is blocked; true: any word for yes. */
  readonly blocked?: Readonly<Record<string, readonly string[] | true>>;
  /** The same the other way round: with any other value it is. */
  readonly blockedUnless?: Readonly<Record<string, readonly string[]>>;
  /** A column that is true for keys of tests. */
  readonly test?: string;
  /** Columns of which each that is true is a feature. */
  readonly features?: readonly string[];
  /** What cannot be kept, by the columns that say so. */
  readonly lost?: Readonly<Record<string, string>>;
  /** Devices: the column of an array in the row, and the columns of a device, there and in a file of devices. */
  readonly devices?: {
    readonly inColumn?: string;
    /** The column of a file of devices that names the key by its id. */
    readonly keyId?: Source;
    readonly hostId: Source;
    readonly deviceTag?: Source;
    readonly ipAddress?: Source;
    readonly activationTime?: Source;
  };
}

export type DeviceColumns = NonNullable<Preset['devices']>;
