import { change, command, customerOption, flag, option, productOfKey } from '../../command.ts';
import { UsageError } from '../../failure/errors.ts';
import { keyCheck, licenseKeyArgument } from '../../values/license-key.ts';
import { changedFields, changedKey, ifUpdatedAt } from './changed.ts';

export const keysTransfer = command({
  about: 'Gives a key to another customer, to a new one, or to nobody. Its devices keep their slots.',
  operation: 'keys.transfer',
  arguments: { key: licenseKeyArgument },
  options: {
    product: productOfKey,
    customer: customerOption('the customer it is for from now on'),
    newCustomerName: option('--new-customer-name <NAME>', 'create that customer', { field: 'newCustomer.name' }),
    newCustomerEmail: option('--new-customer-email <EMAIL>', 'the e-mail address of the new customer', {
      field: 'newCustomer.email',
    }),
    nobody: flag('--nobody', 'take it from its customer'),
    ifUpdatedAt,
    keyCheck,
    ...change,
  },
  fields: changedFields,
  examples: [
    ['lkm keys transfer "$KEY" --customer cus_…', 'another owner'],
    ['lkm keys transfer "$KEY" --new-customer-name "Ada Ltd"', 'a new one'],
  ],

  async run({ key, product, customer, newCustomerName, newCustomerEmail, nobody, ifUpdatedAt }, context) {
    if ([customer !== undefined, newCustomerName !== undefined, nobody].filter(Boolean).length !== 1) {
      throw new UsageError('choose who gets it: --customer ID, --new-customer-name NAME, or --nobody');
    }
    if (newCustomerEmail !== undefined && newCustomerName === undefined) {
      throw new UsageError('--new-customer-email needs --new-customer-name');
    }
    const receiver =
      newCustomerName === undefined
        ? { customerId: nobody ? null : customer }
        : { newCustomer: { name: newCustomerName, email: newCustomerEmail } };
    const productId = await context.productOf(key, product);
    const changed = await context.change((client, call) =>
      client.keys.transfer({ productId, licenseKey: key, ...receiver, ifUpdatedAt }, call),
    );
    return changedKey(
      changed,
      nobody ? 'taken from its customer' : `transferred to ${customer ?? newCustomerName}`,
      context.io,
    );
  },
});
