import { many, option } from '../../command.ts';
import { parseFeature, parseMetadata } from '../../values/scalars.ts';

/** The options that create the customer of a key along with a change. */
export const newCustomerOptions = {
  newCustomerName: option('--new-customer-name <NAME>', 'create its customer along with it', {
    field: 'newCustomer.name',
  }),
  newCustomerEmail: option('--new-customer-email <EMAIL>', 'the e-mail address of the new customer', {
    field: 'newCustomer.email',
  }),
};

/** The options for the parts of a key's metadata that are given by their names. */
export const metadataOptions = (ofMetadata: string) => ({
  feature: many('--feature <NAME[=VALUE]>', 'switch a feature on, or give it a value', {
    parse: parseFeature,
    field: 'metadata.features',
  }),
  metadata: many('--metadata <NAME=VALUE>', ofMetadata, parseMetadata),
});
