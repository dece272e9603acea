/** Parses JSON; a number that JavaScript cannot hold exactly stays text, such as an order number of 19 digits. */
export const parseJson = (text: string): unknown =>
  JSON.parse(text, (_, value: unknown, { source }: { readonly source?: string } = {}) =>
    typeof value === 'number' && source !== undefined && isTooLong(source) ? source : value,
  );

/** Whether a number in JSON has more digits than JavaScript can hold. */
export const isTooLong = (number: string): boolean => !/[.e]/i.test(number) && !Number.isSafeInteger(Number(number));
