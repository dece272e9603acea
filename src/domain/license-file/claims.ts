import type { Features, License } from '../license.ts';

/** Names the form of a licence file, in its member `format`. */
export const LICENSE_FILE_FORMAT = 'lkm-lic/1';

/** The `typ` in the header of a licence token. */
export const LICENSE_TOKEN_TYPE = 'lic+jwt';

/** The signed claims of a licence file. Times are whole seconds since 1970. Source: decision 0007. */
export interface LicenseClaims {
  /** The account that signed. */
  readonly iss: string;
  /** The file's own id. */
  readonly jti: string;
  /** The licence's id. */
  readonly sub: string;
  readonly key: string;
  readonly productId: string;
  /** The hostId of the one device the file is for. */
  readonly machine: string;
  readonly type: 'offline';
  readonly iat: number;
  readonly nbf: number;
  readonly exp: number;
  /** When the licence itself expires; null means never. */
  readonly licenseExp: number | null;
  readonly features: Features;
  readonly is_trial: boolean;
  readonly licenseType: License['licenseType'];
  readonly customer: { readonly id: string; readonly name: string } | null;
  /** The nonce of the application's request; absent if the request has no nonce. */
  readonly nonce?: string | undefined;
  readonly v: 1;
}

/** Whether a parsed payload has every claim with the right type. Unknown members are accepted. */
export function isLicenseClaims(value: unknown): value is LicenseClaims {
  return isRecord(value) && Object.entries(members).every(([name, holds]) => holds(value[name]));
}

/** Whether a parsed JSON value is an object, so that its members can be looked at. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const isText = (value: unknown): boolean => typeof value === 'string';

const isTime = (value: unknown): boolean => Number.isSafeInteger(value);

const isFeature = (value: unknown): boolean => ['boolean', 'number', 'string'].includes(typeof value);

const members = {
  iss: isText,
  jti: isText,
  sub: isText,
  key: isText,
  productId: isText,
  machine: isText,
  type: (value) => value === 'offline',
  iat: isTime,
  nbf: isTime,
  exp: isTime,
  licenseExp: (value) => value === null || isTime(value),
  features: (value) => isRecord(value) && Object.values(value).every(isFeature),
  is_trial: (value) => typeof value === 'boolean',
  licenseType: (value) => value === 'node-locked' || value === 'floating',
  customer: (value) => value === null || (isRecord(value) && isText(value.id) && isText(value.name)),
  nonce: (value) => value === undefined || isText(value),
  v: (value) => value === 1,
} satisfies Record<keyof LicenseClaims, (value: unknown) => boolean>;
