import { ApiError, createClient } from 'lkm';

// Issues a key from a shop's own code. One idempotency key per order: a retry, of this call or of the whole program,
// gets the same licence key.

const client = createClient({ baseUrl: process.env.LKM_BASE_URL ?? '', token: process.env.LKM_TOKEN });

const [order = '', productId = '', email = ''] = process.argv.slice(2);

try {
  const { key } = await client.keys.create(
    { productId, usesPerKey: 3, newCustomer: { name: email, email } },
    { idempotencyKey: `order-${order}` },
  );
  console.log(key);
} catch (error) {
  if (!(error instanceof ApiError)) throw error;
  console.error(`refused: ${error.message} (${error.reason})`);
  process.exitCode = 1;
}
