/** No identifier of a product is shorter. Source: API description, "Limits". */
export const MIN_PRODUCT_ID = 22;
