import { ApiError, createClient } from 'lkm';

// Issues a key from a shop's own code, for a new customer or a returning one.
//
//   LKM_BASE_URL=… LKM_TOKEN=… npx node examples/issue-key.ts ORDER PRODUCT_ID EMAIL
//
// The idempotency keys are made from the order: a retry, of one request or of the whole program, gets the same licence
// key for 24 hours.

const client = createClient({ baseUrl: process.env.LKM_BASE_URL ?? '', token: process.env.LKM_TOKEN });

const [order = '', productId = '', email = ''] = process.argv.slice(2);

try {
  console.log(await issue());
} catch (error) {
  if (!(error instanceof ApiError)) throw error;
  console.error(`refused: ${error.message} (${error.reason})`);
  process.exitCode = 1;
}

async function issue(): Promise<string> {
  try {
    const newCustomer = { name: email, email };
    const { key } = await client.keys.create(
      { productId, usesPerKey: 3, newCustomer },
      { idempotencyKey: `order-${order}` },
    );
    return key;
  } catch (error) {
    if (!(error instanceof ApiError) || error.reason !== 'emailTaken') throw error;
    return issueToReturning(error);
  }
}

/** Another request, so it has a key of its own: the first one stands for its refusal. */
async function issueToReturning(refusal: ApiError): Promise<string> {
  const { items } = await client.customers.list({ email });
  const customer = items.find((one) => one.email?.toLowerCase() === email.toLowerCase());
  if (!customer) throw refusal;
  const { key } = await client.keys.create(
    { productId, usesPerKey: 3, customerId: customer.id },
    { idempotencyKey: `order-${order}-returning` },
  );
  return key;
}
