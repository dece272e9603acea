/** The 32 symbols of Crockford's base 32, by value: no I, L, O or U. Source: crockford.com/base32.html. */
export const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/**
 * Writes bytes in Crockford's base 32, upper case, five bits a character, first bit first.
 * The last character is filled up with zero bits: 15 bytes give 24 characters, 32 give 52, 4 give 7.
 *
 * @param leadingBits zero bits in front of the first byte, for a number that is to end with its last bit
 */
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
