import type { DrillFile } from './drill.ts';

/**
 * `PATCH /product` with three optional fields, one of which can be refused for a reason of its own. `withoutIt` is what
 * the compiler says when that file alone is left as it is.
 */
export const patchProduct: readonly (DrillFile & { readonly withoutIt: RegExp })[] = [
  {
    file: 'src/contract/errors.ts',
    edits: [
      {
        before: '  requestTimeout: {',
        add: "  productChanged: { status: 409, code: 5, message: 'Product was changed in the meantime' },\n",
      },
    ],
    withoutIt: /src\/contract\/products\.ts.+"productChanged"' is not assignable to type/,
  },
  {
    file: 'src/contract/products.ts',
    edits: [
      { before: 'IfUpdatedAt, InstantText, Name, ProductId }', add: 'Instant, ' },
      {
        before: '  /** Renames a product, or makes it active or inactive; what is not given stays as it is. */',
        add: `  /** Changes a product, unless it was changed after \`ifUpdatedAt\`. */
  patch: endpoint({
    summary: 'Change a product',
    description: 'Renames a product, or makes it active or inactive, unless it was changed in the meantime.',
    method: 'PATCH',
    path: '/product',
    scope: 'product:write',
    body: z
      .object({
        productId: ProductId,
        name: ProductName.optional(),
        active: z.boolean().optional().describe('Whether it may issue keys'),
        ifUpdatedAt: Instant.optional().describe('When it was last changed, as far as the caller knows'),
      })
      .meta({ id: 'PatchProductRequest' }),
    reply: acted('PatchProductResponse', 'products.patch', Product),
    example: { body: { productId: examples.product.id, active: false }, reply: examples.product },
    errors: ['productNotFound', 'productChanged'],
    source: 'a drill',
  }),

`,
      },
    ],
    withoutIt: /src\/service\/products\.ts.+'patch' does not exist in type/,
  },
  {
    file: 'src/service/products.ts',
    edits: [
      {
        before:
          '/** Renames a product, or makes it active or inactive. Without a difference it is the same product, and no event. */',
        add: `/** Changes a product, unless it was changed after \`ifUpdatedAt\`. */
const patchProduct: UseCase<Products['patch']> = async (context, { productId, name, active, ifUpdatedAt }) => {
  // Changes of products take turns, so that none comes in between.
  await context.repositories.accounts.lock(context.caller.accountId);
  const { updatedAt } = await findProduct(context, productId);
  if (ifUpdatedAt !== undefined && updatedAt !== ifUpdatedAt) throw apiError('productChanged');
  return updateProduct(context, { productId, name, active });
};

`,
      },
      {
        before:
          "  update: { perform: updateProduct, authorize: onProduct('productNotFound'), authorizeReplay: sameForAll },",
        add: "  patch: { perform: patchProduct, authorize: onProduct('productNotFound') },\n",
      },
    ],
    withoutIt: /src\/service\/products\.ts.+Property 'patch' is missing in type/,
  },
];
