import { z } from 'zod';
import { NewCustomer } from '../customers.ts';
import { endpoint } from '../endpoint.ts';
import { asNumber, asText, eitherOf, needs, notBoth, positiveDurationField } from '../fields.ts';
import { bare, data } from '../reply.ts';
import {
  CustomerId,
  HostId,
  Instant,
  InstantText,
  LicenseKey,
  NumericString,
  PlanId,
  ProductId,
  Reference,
  resource,
  ShownKey,
  shown,
  VersionId,
} from '../scalars.ts';
import { LicenseDetails, licenseAddress, licenseSettings, Warning, withConsistentSettings } from './licenses.ts';
import { NewMetadata } from './metadata.ts';

/** The request that issues a key. Source: API description, POST /create-key. */
export const CreateKeyRequest = withConsistentSettings(
  z
    .object({
      productId: ProductId,
      usesPerKey: NumericString.nullish().describe('How many devices may use the key, as text; null means unlimited'),
      expiryDate: Instant.nullish().describe(
        'When it expires; absent: a month after creation, or what `expiresAfter` or the plan says; null: never',
      ),
      expiresAfter: positiveDurationField()
        .optional()
        .describe(
          'How long it lasts from its first use, ISO 8601, of days or more to the end of that day, UTC; not together with `expiryDate`',
        ),
      reference: Reference.optional(),
      ifAbsent: z
        .boolean()
        .optional()
        .describe('With `reference`: where a key of the product has it already, the response is that key, not 409'),
      customerId: CustomerId.nullish().describe('The customer it is for; not together with `newCustomer`'),
      newCustomer: NewCustomer.nullish().describe('Creates its customer; not together with `customerId`'),
      ...licenseSettings,
      metadata: NewMetadata.optional(),
      versionId: VersionId.nullish().describe('The product version it is for; null means any'),
      planId: PlanId.optional().describe('The plan that says what is not given here, and whose features it follows'),
      amountKeys: z.int().min(1).max(1_000).optional().describe('How many keys to issue, all alike; default 1'),
    })
    .refine(...notBoth('reference', 'amountKeys'))
    .refine((body) => body.customerId == null || body.newCustomer == null, {
      message: 'customerId and newCustomer cannot be combined',
      path: ['customerId'],
    })
    .refine(...notBoth('expiresAfter', 'expiryDate'))
    .refine(...needs('ifAbsent', 'reference')),
).meta({
  id: 'CreateKeyRequest',
  dependentRequired: { ifAbsent: ['reference'] },
  not: {
    anyOf: [
      {
        properties: { expiresAfter: { type: 'string' }, expiryDate: {} },
        required: ['expiresAfter', 'expiryDate'],
      },
      { properties: { reference: { type: 'string' }, amountKeys: {} }, required: ['reference', 'amountKeys'] },
      {
        properties: { customerId: { type: 'string' }, newCustomer: { type: 'object' } },
        required: ['customerId', 'newCustomer'],
      },
      {
        properties: {
          maxConcurrentSessions: { type: 'integer' },
          licenseType: { const: 'node-locked' },
          planId: { not: {} },
        },
        required: ['maxConcurrentSessions'],
      },
    ],
  },
});

export const keys = {
  /** Issues a licence key for an active product. Source: API description, POST /create-key; decision 0004. */
  create: endpoint('POST /create-key', 'license:write', {
    summary: 'Issue a licence key',
    fixesInvalidText: true,
    description:
      'Issues a licence key for an active product, for a customer who exists, for a new one, or for none. Keep the ' +
      'key: it is shown in full here, and later only to tokens that may reveal keys.',
    refusesOthersFields: true,
    aliases: { 'POST /key': {} },
    otherNames: { maxActivations: ['usesPerKey', asText], amountKeys: ['amountKeys', asNumber] },
    body: CreateKeyRequest,
    reply: bare('CreateKeyResponse', {
      key: ShownKey.meta({ ...LicenseKey.meta(), description: 'The new licence key, in full' }),
      keys: z.array(ShownKey).optional().describe('All new keys, where `amountKeys` says how many'),
      existing: z.literal(true).optional().describe('With `ifAbsent`: the reference has had this key already'),
      warning: Warning.optional().meta({ description: 'How the key that was there differs from what was asked for' }),
    }),
    example: {
      usesPerKey: '5',
      expiryDate: '2027-11-21T10:00:00Z',
      newCustomer: { name: 'Ada Ltd', email: 'it@ada.example' },
      reference: 'order-1042',
      gracePeriod: 'P14D',
      metadata: { features: { sso: true }, orderNumber: 'A-1042' },
    },
    exampleLacks: ['keys', 'existing'],
    headers: ['LKM-Budget-Remaining'],
    errors: [
      'productUnavailable',
      'customerNotFound',
      'versionNotFound',
      'planNotFound',
      'emailTaken',
      'referenceTaken',
      'issueLimit',
    ],
  }),

  /** Shows one licence with its devices and its customer. Source: API description, GET /key; decisions 0005, 0008 and 0004. */
  get: endpoint('GET /key', 'license:read', {
    summary: 'Show a licence key',
    description:
      'Shows limits, state and devices of a licence key, and its customer. Keys and addresses are masked unless the ' +
      'token is an admin or holds `license:reveal`. A token of kind `client` learns nothing about other devices: it ' +
      'gets no devices, no sessions, no files, no allowed hosts, no free metadata and no e-mail address, and finds no ' +
      'key by its reference.',
    openToClients: true,
    query: z
      .object({
        productId: ProductId.optional().describe('Its product; a key of another one is then not found'),
        licenseKey: LicenseKey.optional().describe('The key; required unless `reference` is given'),
        reference: Reference.optional().describe('The reference of the key, in place of `licenseKey`'),
      })
      .refine(...eitherOf('licenseKey', 'reference')),
    aliases: { 'POST /get-key': {} },
    queryInHeaders: { licenseKey: 'X-License-Key' },
    reply: data('GetKeyResponse', LicenseDetails),
    example: { productId: 'prod_01jd7q3v6ye2wb8x5k9m4n0r7t', licenseKey: '7KQ2M-X9D4R-HTB31-0WVJ6-85SB5' },
    errors: ['licenseNotFound'],
  }),
};

/** The actions that `keys.why` explains. */
export const explainedActions = ['activate', 'sign', 'checkout', 'deactivate'] as const;

const Rule = resource('Rule', 'A rule that stands in the way, or does not', {
  rule: shown('Its name', 'slot'),
  passed: z.boolean(),
  detail: shown('What it found, a sentence', '5 of 5 slots are taken.'),
  reason: shown('Our name for the error it leads to; only when it failed', 'activationLimit').optional(),
});

/** Whether something may be done, and every rule that was looked at. */
export const Explanation = z
  .looseObject({
    allowed: z.boolean(),
    action: z.string().meta({ examples: [...explainedActions] }),
    at: InstantText.describe('The instant that the answer is for'),
    rules: z.array(Rule).describe('In order: the first that failed is the error that the operation returns'),
  })
  .meta({ id: 'Explanation' });
export type Explanation = z.output<typeof Explanation>;

export const keyWhy = {
  /** Says whether something could be done with a key, and which rules stand in the way. Source: decision 0009. */
  why: endpoint('GET /key/why', 'license:read', {
    summary: 'Explain whether a key may be used',
    description:
      'Looks at every rule that activating, signing, checking out or deactivating has to pass, in order, and says what ' +
      'it found. Takes no slot and changes nothing. A token of kind `client` has to name its device.',
    openToClients: true,
    query: z.object({
      ...licenseAddress,
      hostId: HostId.optional().describe('The device that would do it; absent: one that holds no slot'),
      action: z.enum(explainedActions).optional().describe('What would be done; default activate'),
      at: Instant.optional().describe('When it would be done, with devices as they are now; default now'),
    }),
    reply: data('WhyKeyResponse', Explanation),
    example: { hostId: 'host-1' },
    errors: ['licenseNotFound'],
  }),
};
