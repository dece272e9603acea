/** No identifier of a product is shorter. Source: API description, "Limits". */
export const MIN_PRODUCT_ID = 22;

/**
 * A shorter text is a licence key only if an import has created such a short key. Source: API description, "Limits";
 * decision 0002.
 */
export const MIN_LICENSE_KEY = 23;

/** No licence key is shorter, imported or not. */
export const MIN_IMPORTED_KEY = 6;

/** Whether a text is a name of a product: identifiers are longer and seldom have spaces. */
export const isProductName = (text: string): boolean => text.length < MIN_PRODUCT_ID || text.includes(' ');
