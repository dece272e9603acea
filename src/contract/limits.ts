/** No identifier of a product is shorter. Source: API description, "Limits". */
export const MIN_PRODUCT_ID = 22;

/** Whether a text is the name of a product: an identifier is longer, and seldom has a space in it. */
export const isProductName = (text: string): boolean => text.length < MIN_PRODUCT_ID || text.includes(' ');
