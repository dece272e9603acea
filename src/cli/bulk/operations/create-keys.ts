import { CreateKeyRequest } from '../../../contract/keys/keys.ts';
import { isProductName } from '../../../contract/limits.ts';
import { emailKey } from '../../../domain/email.ts';
import type { CommandContext } from '../../context.ts';
import { UsageError } from '../../failure/errors.ts';
import type { CommandResult } from '../../output/result.ts';
import type { Note } from '../../output/terminal.ts';
import { findCustomer, findProduct, orNull, unlessRefused } from '../../request/look-ups.ts';
import { encodeFields } from '../../values/check-fields.ts';
import { type Body, bulkOperation, type Dependency, type Preparation, withProductId } from '../operation.ts';
import { isObject } from '../reading/columns.ts';
import type { BulkRequest } from '../request.ts';
import { runBulk } from '../run-bulk.ts';

/** Finds products by name, and customers by address or name. The name of a customer may look like an id from elsewhere. */
const namedInRows: Preparation = {
  dependenciesOf(body) {
    const { productId, customerId } = body;
    const dependencies: Dependency[] = [];
    if (typeof productId === 'string' && isProductName(productId)) {
      const missingText = `no product is called '${productId}'`;
      dependencies.push({ kind: 'product', name: productId, input: null, missingText });
    }
    const named = namedByEmail(body);
    if (named !== null) {
      const { email, name } = named;
      const input = typeof name === 'string' ? { name, email } : null;
      const missingText = `customerName is missing: no customer has the address ${email}`;
      dependencies.push({ kind: 'customer', name: emailKey(email), input, missingText });
    } else if (typeof customerId === 'string' && !customerId.startsWith('cus_')) {
      const missingText = `no customer is called '${customerId}'`;
      dependencies.push({ kind: 'customer', name: customerId, input: null, missingText });
    }
    return dependencies;
  },

  async find(client, { kind, name }) {
    if (kind === 'product') return orNull(findProduct(client, name));
    const found = findCustomer(client, name);
    if (name.includes('@')) return orNull(found);
    // A token without customer:read: the service decides whether this is an id.
    return orNull(unlessRefused('scopeMissing', found).then((id) => id ?? name));
  },

  async make(client, { input }, call) {
    const { name = '', email = '' } = input ?? {};
    return (await client.customers.create({ name, email }, call)).id;
  },

  fill({ newCustomer, ...others }, { product = others.productId, customer }) {
    return { ...others, productId: product, ...(customer === undefined ? { newCustomer } : { customerId: customer }) };
  },
};

/** The new customer of a body with an e-mail address, who may exist already. */
function namedByEmail({ newCustomer }: Body): { readonly email: string; readonly name?: unknown } | null {
  if (!isObject(newCustomer) || typeof newCustomer.email !== 'string') return null;
  return { ...newCustomer, email: newCustomer.email };
}

export const createKeys = bulkOperation({
  command: 'keys create',
  done: 'issued',
  noun: 'key',
  schema: CreateKeyRequest,
  // The service returns the key that a reference has.
  repeatsSafely: true,
  withReference: (body, reference) => ({ reference, ...body, ifAbsent: true }),
  preparation: namedInRows,
  fields: [{ name: 'key' }],

  /** An e-mail address in place of an id: no id has an `@`. */
  arrange(body) {
    const { customerId, newCustomer, ...others } = body;
    const isAddress = typeof customerId === 'string' && customerId.includes('@');
    if (!isAddress || namedByEmail(body) !== null) return body;
    return { ...others, newCustomer: { ...(isObject(newCustomer) && newCustomer), email: customerId } };
  },

  toCheck(body) {
    const named = namedByEmail(body);
    return withProductId(named === null ? body : { ...body, newCustomer: { name: 'not said', ...named } });
  },

  async send(client, { customerId, newCustomer, ...terms }, call) {
    const customer = newCustomer == null ? { customerId } : { newCustomer };
    const { key, existing = false, warning } = await client.keys.create({ ...terms, ...customer }, call);
    return { key, isOld: existing, warning };
  },
});

const NOTE_ON_REFERENCES: Note = {
  tone: 'hint',
  text: `a changed file is another run and issues all its keys; with --map 'COLUMN=reference' each order gets one key, for ever`,
};

interface Values extends Omit<BulkRequest, 'defaults' | 'mode'> {
  readonly reference: string | undefined;
}

/** `noteDefaultEnd` describes the default expiry. */
export async function createKeysInBulk(
  context: CommandContext,
  values: Values,
  input: Body,
  noteDefaultEnd: (which: string) => Note,
): Promise<CommandResult> {
  const { reference, file } = values;
  if (reference !== undefined) throw new UsageError('--reference names one key: give each row its own, in a column');
  return runBulk(context, createKeys, {
    ...values,
    defaults: encodeFields('keys.create', input),
    notesOn(bodies) {
      const isWithoutEnd = ({ expiryDate, expiresAfter }: Body) =>
        expiryDate === undefined && expiresAfter === undefined;
      const isWithoutReference = file !== undefined && bodies.some((body) => body.reference === undefined);
      return [
        ...(bodies.some(isWithoutEnd)
          ? [noteDefaultEnd(file === undefined ? 'no --expires given' : 'rows without an expiry')]
          : []),
        ...(isWithoutReference ? [NOTE_ON_REFERENCES] : []),
      ];
    },
  });
}
