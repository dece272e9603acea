import { many, option } from '../../command.ts';
import { UsageError } from '../../failure/errors.ts';
import { type Feature, parseFeature, parseMetadata } from '../../values/scalars.ts';

/** The options that create the customer of a key along with a change. */
export const newCustomerOptions = {
  newCustomerName: option('--new-customer-name <NAME>', 'create its customer along with it', {
    field: 'newCustomer.name',
  }),
  newCustomerEmail: option('--new-customer-email <EMAIL>', 'the e-mail address of the new customer', {
    field: 'newCustomer.email',
  }),
};

/** Throws `UsageError` when two customers are named, or a new one without its name. */
export function checkCustomer({ customer, newCustomerName, newCustomerEmail }: GivenCustomer): void {
  if (customer !== undefined && newCustomerName !== undefined) {
    throw new UsageError('--customer and --new-customer-name name two customers; give one of them');
  }
  if (newCustomerEmail !== undefined && newCustomerName === undefined) {
    throw new UsageError('--new-customer-email needs --new-customer-name');
  }
}

type GivenCustomer = Readonly<Record<'customer' | 'newCustomerName' | 'newCustomerEmail', string | undefined>>;

/** The options for the parts of a key's metadata that are given by their names. */
export const metadataOptions = (ofMetadata: string) => ({
  feature: many('--feature <NAME[=VALUE]>', 'switch a feature on, or give it a value', {
    parse: parseFeature,
    field: 'metadata.features',
  }),
  metadata: many('--metadata <NAME=VALUE>', ofMetadata, { parse: parseMetadata, field: 'metadata' }),
});

interface GivenMetadata {
  readonly feature: readonly Feature[] | undefined;
  readonly removeFeature?: readonly string[] | undefined;
  readonly metadata: ReturnType<typeof parseMetadata>[] | undefined;
  readonly removeMetadata?: readonly string[] | undefined;
}

/** Undefined when nothing of it is given, so that the request says nothing of it. Throws `UsageError`. */
export function metadataOf(
  { feature, removeFeature, metadata, removeMetadata }: GivenMetadata,
  isTrial: boolean | undefined,
) {
  const features = feature || removeFeature ? mergeNames('feature', feature, removeFeature) : undefined;
  if (features === undefined && !metadata && !removeMetadata && isTrial === undefined) return undefined;
  return { ...mergeNames('metadata', metadata, removeMetadata), features, is_trial: isTrial };
}

/** Entries to set, and null for those to remove. */
function mergeNames<V>(what: string, set: readonly (readonly [string, V])[] = [], remove: readonly string[] = []) {
  const both = set.find(([name]) => remove.includes(name));
  if (both !== undefined)
    throw new UsageError(`--${what} ${both[0]} and --remove-${what} ${both[0]} contradict each other`);
  return Object.fromEntries<V | null>([...set, ...remove.map((name) => [name, null] as const)]);
}
