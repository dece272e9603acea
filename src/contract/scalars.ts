import { z } from 'zod';
import { MIN_IMPORTED_KEY, MIN_PRODUCT_ID } from './limits.ts';

/*
 * The patterns here are printed in the OpenAPI document, for programs in many languages: no flags and no `\p{…}`. What
 * such a pattern cannot say is a refinement, which the document does not show.
 */

/** No control characters. Both databases store such text unchanged, and a terminal prints it as it is. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it keeps out
export const PRINTABLE = /^[^\x00-\x1f\x7f-\x9f]*$/;

/** Printable, with at least one character that is not a space. On text of any length it takes quadratic time. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it keeps out
const NOT_BLANK = /^[^\x00-\x1f\x7f-\x9f]*[^\x00-\x20\x7f-\xa0][^\x00-\x1f\x7f-\x9f]*$/;

/** Text of `min` to `max` characters without control characters or lone surrogates. */
export const text = (min: number, max: number, pattern: RegExp = PRINTABLE) =>
  // One call: a call per check would build each schema five times, in every command.
  z.string().check(
    z.minLength(min),
    // Too long texts skip the pattern, which takes an hour for a megabyte.
    z.maxLength(max, { abort: true }),
    z.regex(pattern),
    z.refine((value) => value.isWellFormed(), 'Invalid string: must not hold half of a surrogate pair'),
  );

/** An identifier of up to 256 characters. */
export const identifier = <Brand extends string>(description: string, example: string, min = 1) =>
  text(min, 256)
    .meta({ description, examples: [example] })
    .brand<Brand>();

/** Identifier of a product, 22 to 256 characters. Source: API description, "Limits". */
export const ProductId = identifier<'ProductId'>(
  'Identifier of a product',
  'prod_01jd7q3v6ye2wb8x5k9m4n0r7t',
  MIN_PRODUCT_ID,
);
export type ProductId = z.output<typeof ProductId>;

/** A short name of a product for scripts. It is shorter than any identifier. */
export const Slug = text(1, MIN_PRODUCT_ID - 1, /^[a-z0-9]+(-[a-z0-9]+)*$/).meta({
  description: 'A short name for scripts, unique in the account: lower case, digits, hyphens',
  examples: ['engine-pro'],
});

/** A licence key in full. The service refuses texts of 6 to 22 characters that are no imported key. Decision 0002. */
export const LicenseKey = identifier<'LicenseKey'>(
  'A licence key, in full: 23 to 256 characters, or from 6 where it was imported',
  '7KQ2M-X9D4R-HTB31-0WVJ6-85SB5',
  MIN_IMPORTED_KEY,
);
export type LicenseKey = z.output<typeof LicenseKey>;

/** Identifier of a device, opaque, 1 to 64 characters. Source: API description, "Limits". */
export const HostId = text(1, 64)
  .meta({
    description: 'Identifier of a device, chosen by the application: a hardware fingerprint',
    examples: ['host-1'],
  })
  .brand<'HostId'>();
export type HostId = z.output<typeof HostId>;

export const CustomerId = identifier<'CustomerId'>('Identifier of a customer', 'cus_01jd7q41c8fzks2v0t9e6h3m5p');
export type CustomerId = z.output<typeof CustomerId>;

export const PlanId = identifier<'PlanId'>('Identifier of a plan', 'plan_01jd7q4f8x2vb6m9k0t5w3y7rc');
export type PlanId = z.output<typeof PlanId>;

export const VersionId = identifier<'VersionId'>('Identifier of a version', 'ver_01jd7q8k5m3wz0t7c2x9v4b6rn');
export type VersionId = z.output<typeof VersionId>;

export const TokenId = identifier<'TokenId'>('Identifier of a token', 'tok_01jd7q5d2m4xw8a6r1b0y7n9c3');
export type TokenId = z.output<typeof TokenId>;

export const AccountId = identifier<'AccountId'>('Identifier of an account', 'acc_01jd7q2h0t5v9k3f8s6w4e1m7x');
export type AccountId = z.output<typeof AccountId>;

/** The vendor's own name for a licence, 1 to 128 characters, not blank. Unique in the account, compared exactly. */
export const Reference = text(1, 128, NOT_BLANK)
  .meta({
    description: "The vendor's own name of a key, such as an order number: unique in the account",
    examples: ['order-1042'],
  })
  .brand<'Reference'>();

/** A display name, not blank. */
const displayName = (maxLength: number, example: string) =>
  text(1, maxLength, NOT_BLANK)
    .refine((name) => /\S/.test(name), 'Invalid string: must not be blank')
    .meta({ examples: [example] });

export const Name = displayName(256, 'Ada Ltd');

/** The name of a version of a product. */
export const VersionName = displayName(64, '2.1').describe('Its name, unique in the product');

/** An object in a reply. It is open: fields that a later service adds pass through. */
export const resource = <S extends z.ZodRawShape>(id: string, description: string, shape: S) =>
  z.looseObject(shape).meta({ id, description });

/** Text in a reply. The example of the reply is made from the examples of its members. */
export const shown = (description: string, example: string) => z.string().meta({ description, examples: [example] });

/** An identifier in a reply, described as it is where callers give it. */
export const shownId = (id: z.ZodType) => z.string().meta(id.meta() ?? {});

/** Identifier of a licence; callers name a licence by its key. */
export const LicenseId = shown('Identifier of the licence', 'lic_01jd7q4xk1ffvr3h8n5p6m2w9t');

/** Identifier of a signing key. */
export const Kid = shown(
  'The signing key: base64url(SHA-256(SPKI DER))',
  'q1XrLr4hYgNq1b8bq8mJqj2m0m0w0n1o5a9c3d7e8f0',
);

/** A licence key as a caller may see it: in full, or masked. Only `domain/license-key.ts` makes values of this type. */
export const ShownKey = z
  .string()
  .meta({ description: 'The licence key; masked for read-only callers', examples: ['*****-*****-*****-*****-85SB5'] })
  .brand<'ShownKey'>();
export type ShownKey = z.output<typeof ShownKey>;

/** A device's address as a caller may see it: in full, or masked. Only `domain/ip-address.ts` makes values of this type. */
export const ShownIp = z
  .string()
  .meta({ examples: ['203.0.*.*'] })
  .brand<'ShownIp'>();
export type ShownIp = z.output<typeof ShownIp>;

const DAY_AND_TIME = '[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}';

/** A point in time: ISO 8601, UTC, milliseconds, so that instants sort as text. */
export const InstantText = z.iso
  .datetime({ precision: 3 })
  .meta({ pattern: String.raw`^${DAY_AND_TIME}\.[0-9]{3}Z$`, examples: ['2026-11-21T10:00:00.000Z'] })
  .brand<'Instant'>();
export type Instant = z.output<typeof InstantText>;

/** The instant of an end, such as an expiry. */
export const EndText = InstantText.meta({ examples: ['2027-11-21T10:00:00.000Z'] });

/** An instant as a caller writes it: any ISO 8601 date-time with an offset, normalised to {@link Instant}. */
export const Instant = z.codec(
  z.iso.datetime({ offset: true }).meta({
    pattern: String.raw`^${DAY_AND_TIME}(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})$`,
    examples: ['2027-11-21T12:00:00+02:00'],
  }),
  InstantText,
  {
    decode: (written, context) => {
      const time = Date.parse(written);
      const instant = Number.isNaN(time) ? '' : new Date(time).toISOString();
      // An offset can carry year 0000 or 9999 out of four digits, and such text no longer sorts.
      if (instant.length !== 24) {
        context.issues.push({ code: 'custom', message: 'Invalid ISO datetime', input: written });
        return z.NEVER;
      }
      return instant;
    },
    encode: (instant) => instant,
  },
);

/** Makes a change conditional: nobody has changed the record since this instant. Source: decision 0049. */
export const IfUpdatedAt = Instant.optional().describe(
  'Changes it only if this is its `updatedAt`: if nobody else has changed it since the caller looked',
);

/** The largest limit that a caller may set on how many of something there may be. */
export const MAX_LIMIT = 999_999_999;

export const Limit = z.int().min(1).max(MAX_LIMIT);

/** A positive whole number written as text, `"1"` to `"999999999"`, without sign, exponent or leading zero. */
export const NumericString = z.codec(z.string().regex(/^[1-9][0-9]{0,8}$/), Limit, {
  decode: Number,
  encode: String,
});

/** The highest number that an item of a numbered list can have. */
export const MAX_SEQ = 2_147_483_647;

/** A number of things, or of seconds, in a reply: both databases keep it in 32 bits. */
export const Count = z.int().min(0).max(MAX_SEQ);

/** A flag that is true in examples. */
export const Active = z.boolean().meta({ examples: [true] });

/*
 * The ASCII characters of an address: dots anywhere in its local part, as addresses in Japan have them, or a local part in
 * quotes. Characters beyond ASCII stand in both parts (RFC 6531).
 */
const NEVER = String.raw`\x00-\x20\x7f-\xa0`;
const ATOM = String.raw`[^${NEVER}"(),:;<>@\[\\\]]+`;
const QUOTED = String.raw`"(?: |[^${NEVER}"\\]|\\[\x20-\x7e])+"`;
const [EDGE, INNER, FIRST] = ['!-/:-', '!-,./:-', '!-'].map((start) => String.raw`[^${NEVER}${start}@\[-\x60{-~]`);
const EMAIL = new RegExp(`^(?:${ATOM}|${QUOTED})@(?:${EDGE}(?:${INNER}*${EDGE})?\\.)+${FIRST}${INNER}*${EDGE}$`);

/** A domain as name servers know it. */
const DOMAIN = /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?:[a-z]{2,63}|xn--[a-z0-9-]{1,59})$/;

/** Invisible characters other than the space, which may stand between quotes. */
const INVISIBLE = /[^\S ]|[\p{Cc}\p{Cf}\p{Cs}]/u;

function isAddress(email: string): boolean {
  const at = email.lastIndexOf('@');
  const domain = URL.parse(`http://${email.slice(at + 1)}`)?.hostname ?? '';
  return DOMAIN.test(domain) && !INVISIBLE.test(email.slice(0, at)) && /[^.]/.test(email.slice(0, at));
}

const byteLength = (value: string): number => new TextEncoder().encode(value).length;

/**
 * An e-mail address, at most 254 bytes (RFC 5321 §4.5.3.1.3). Unique per account, compared without case and in one form:
 * decision 0005.
 */
export const Email = z
  .email({ pattern: EMAIL, abort: true })
  .max(254, { abort: true })
  .refine((email) => byteLength(email) <= 254, { message: 'Too big: at most 254 bytes', abort: true })
  .refine(isAddress, 'Invalid string: must have a domain, and no invisible characters')
  .meta({
    description: 'Unique in the account, compared without case; its domain in Unicode or as xn--',
    examples: ['it@ada.example'],
    format: 'idn-email',
  });
