import { z } from 'zod';

/**
 * Text of `min` to `max` characters without control characters or lone surrogates.
 * Both databases store such text unchanged, and a terminal prints it as it is.
 */
export const text = (min: number, max: number) =>
  z
    .string()
    .min(min)
    .max(max)
    .regex(/^[^\p{Cc}\p{Cs}]*$/u);

/** Identifier of a product, 22 to 256 characters. Source: API description, "Limits". */
export const ProductId = text(22, 256).brand<'ProductId'>();
export type ProductId = z.output<typeof ProductId>;

/** A licence key in full, 23 to 256 characters. Source: API description, "Limits". */
export const LicenseKey = text(23, 256).brand<'LicenseKey'>();
export type LicenseKey = z.output<typeof LicenseKey>;

/** Identifier of a device, opaque, 1 to 64 characters. Source: API description, "Limits". */
export const HostId = text(1, 64).brand<'HostId'>();
export type HostId = z.output<typeof HostId>;

/** Identifier of a customer. */
export const CustomerId = text(1, 256).brand<'CustomerId'>();
export type CustomerId = z.output<typeof CustomerId>;

/** Identifier of a token. */
export const TokenId = text(1, 256).brand<'TokenId'>();
export type TokenId = z.output<typeof TokenId>;

/** Identifier of an account. */
export const AccountId = text(1, 256).brand<'AccountId'>();
export type AccountId = z.output<typeof AccountId>;

/** A licence key as a caller may see it: in full, or masked. Only `domain/mask.ts` makes one. */
export const ShownKey = z.string().brand<'ShownKey'>();
export type ShownKey = z.output<typeof ShownKey>;

/** A device's address as a caller may see it: in full, or masked. Only `domain/mask.ts` makes one. */
export const ShownIp = z.string().brand<'ShownIp'>();
export type ShownIp = z.output<typeof ShownIp>;

/** A point in time: ISO 8601, UTC, milliseconds, so that instants sort as text. */
export const InstantText = z.iso.datetime({ precision: 3 }).brand<'Instant'>();
export type Instant = z.output<typeof InstantText>;

/** An instant as a caller writes it: any ISO 8601 date-time with an offset, normalised to {@link Instant}. */
export const Instant = z.codec(z.iso.datetime({ offset: true }), InstantText, {
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
});

/** A positive whole number written as text, `"1"` to `"999999999"`, without sign, exponent or leading zero. */
export const NumericString = z.codec(z.string().regex(/^[1-9][0-9]{0,8}$/), z.int().positive().max(999_999_999), {
  decode: Number,
  encode: String,
});

/** An e-mail address, at most 254 characters (RFC 5321 §4.5.3.1.3). Unique per account, compared without case. */
export const Email = z.email().max(254);

/** A display name, 1 to 256 characters, not blank. */
export const Name = text(1, 256).regex(/\S/);
