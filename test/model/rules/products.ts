import type { Operation } from '../operations.ts';
import { type Model, pick, type Step } from '../state.ts';

/** Makes a product active or inactive. */
export function setProduct(model: Model, op: Operation<'setProduct'>): Step | null {
  const product = pick(model.products, op.product);
  if (product === undefined) return null;
  const { active } = op;
  return {
    request: {
      method: 'PUT',
      path: `/product/by-id?${new URLSearchParams({ productId: product.id })}`,
      body: { active },
    },
    touched: () => [],
    predict: () => ({
      status: 200,
      body: { status: true, code: 0, data: { id: product.id, active } },
      apply: () => {
        product.active = active;
      },
    }),
  };
}
