import { flag, option, required } from '../command.ts';
import type { Changed } from '../context.ts';
import type { Note } from '../output/result.ts';

/** The product whose key is meant. */
export const product = required('-P, --product <ID>', 'the product', {
  env: 'LKM_PRODUCT',
  field: 'productId',
  pick: async (context) => (await import('../prompts/pick-product.ts')).pickProduct(context),
});

/** The options of every command that changes something. */
export const change = {
  idempotencyKey: option('--idempotency-key <K>', 'repeat an earlier request instead of making a new one'),
  dryRun: flag('-n, --dry-run', 'show the request and send nothing'),
};

/** The option that answers a yes-or-no question beforehand. */
export const yes = flag('-y, --yes', 'do not ask');

/** Says what a change did; of a replayed response, that an earlier request had done it. */
export function doneNote({ replayed }: Pick<Changed<unknown>, 'replayed'>, text: string): Note {
  const again = 'this is the response to an earlier request with the same idempotency key; nothing was done again';
  return { tone: 'done', text: replayed ? `${text}\n${again}` : text };
}
