/** The 32 symbols of Crockford's base 32, by value: no I, L, O or U. Source: crockford.com/base32.html. */
export const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** Writes bytes in Crockford's base 32, upper case, after `leadingBits` zero bits; 15 bytes give 24 characters. */
export function encodeCrockford(bytes: Uint8Array, leadingBits = 0): string {
  let text = '';
  let pending = 0;
  let width = leadingBits;
  for (const byte of bytes) {
    pending = (pending << 8) | byte;
    width += 8;
    while (width >= 5) {
      width -= 5;
      text += alphabet.charAt(pending >> width);
      pending &= (1 << width) - 1;
    }
  }
  return width === 0 ? text : text + alphabet.charAt(pending << (5 - width));
}
