import { ApiError, createClient } from 'lkm';

// Issues a key from a shop's own code, for a new customer or a returning one.
//
//   LKM_BASE_URL=… LKM_TOKEN=… npx node examples/issue-key.ts ORDER PRODUCT_ID EMAIL
//
// The order is the reference of the key: there is one key for it, for ever, and a program that is run again gets that one.
// Retries of one request carry an idempotency key of their own, which nobody can guess.

const client = createClient({ baseUrl: process.env.LKM_BASE_URL ?? '', token: process.env.LKM_TOKEN });

const [order = '', productId = '', email = ''] = process.argv.slice(2);
const reference = `order-${order}`;

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
    const { key } = await client.keys.create({ productId, usesPerKey: 3, newCustomer, reference, ifAbsent: true });
    return key;
  } catch (error) {
    if (!(error instanceof ApiError) || error.reason !== 'emailTaken') throw error;
    return issueToReturning(error);
  }
}

async function issueToReturning(refusal: ApiError): Promise<string> {
  const { items } = await client.customers.list({ email });
  const customer = items.find((one) => one.email?.toLowerCase() === email.toLowerCase());
  if (!customer) throw refusal;
  const customerId = customer.id;
  const { key } = await client.keys.create({ productId, usesPerKey: 3, customerId, reference, ifAbsent: true });
  return key;
}
