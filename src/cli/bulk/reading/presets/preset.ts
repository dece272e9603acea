/** A column, or the first of several that has a value. `first + last` joins the texts of two columns. */
export type Source = string | readonly string[];

/** How files of another system are read. Names of columns are compared without case and punctuation. */
export interface Preset {
  /** Columns that no other system has together. */
  readonly recognisedBy: readonly string[];
  /** The columns by the fields of lkm. */
  readonly fields: Readonly<Record<string, Source>>;
  /** The column with the days that a key without an expiry lasts from its first use. */
  readonly daysFromFirstUse?: string;
  /** Columns with the values that block a key; `true` stands for any word for yes. */
  readonly blocked?: Readonly<Record<string, readonly string[] | true>>;
  /** Columns with the values that do not block a key: any other value blocks it. */
  readonly blockedUnless?: Readonly<Record<string, readonly string[]>>;
  /** A column that is true for keys of tests. */
  readonly test?: string;
  /** Columns that become features of a key where they are true. */
  readonly features?: readonly string[];
  /** Names of properties that lkm does not keep, by their columns. */
  readonly lost?: Readonly<Record<string, string>>;
  /** The columns of a device, in a file of devices or in an array in the column `inColumn` of a key. */
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
