import { hasTerms, type Operation } from '../operations.ts';
import { type Answered, type Customer, type Key, type Model, pick, type Step } from '../state.ts';
import { durationText, instantAt, later } from '../time.ts';
import { addCustomer, emailOf, isTaken } from './customers.ts';
import { graceEnd, isActivated, refusals } from './use.ts';

/** The fields that name one licence. */
export const addressOf = ({ product, text }: Key) => ({ productId: product.id, licenseKey: text });

/** Issues a key. */
export function create(model: Model, op: Operation<'create'>): Step | null {
  const product = pick(model.products, op.product);
  if (product === undefined) return null;
  const given = op.customer.kind === 'given' ? pick(model.customers, op.customer.number) : undefined;
  const email = op.customer.kind === 'new' ? emailOf(model, op.customer.email) : null;
  const expiresAt = op.expires ? later(model.now, op.expires) : null;
  const newCustomer = { name: model.name, ...(email !== null && { email }) };
  const reference = op.reference === null ? null : `${model.name}-order-${op.reference}`;
  const isFloating = op.maxSessions !== null;
  return {
    request: {
      method: 'POST',
      path: '/create-key',
      body: {
        productId: product.id,
        ...(op.maxActivations !== null && { usesPerKey: String(op.maxActivations) }),
        ...(reference !== null && { reference }),
        ...(op.expiresAfter && { expiresAfter: durationText(op.expiresAfter) }),
        ...(op.grace && { gracePeriod: durationText(op.grace) }),
        ...(op.expires === undefined ? {} : { expiryDate: expiresAt && instantAt(expiresAt) }),
        ...(given && { customerId: given.id }),
        ...(op.customer.kind === 'new' && { newCustomer }),
        ...(isFloating && { licenseType: 'floating', maxConcurrentSessions: op.maxSessions || null }),
        ...(op.allowedHosts && { allowedHosts: op.allowedHosts }),
        ...(op.metadata && { metadata: op.metadata }),
        sessionLeaseDuration: op.leaseSeconds,
        heartbeatInterval: 60,
      },
    },
    touched: () => model.keys.slice(-1),
    predict: () => {
      if (op.expiresAfter !== null && op.expires !== undefined) return refusals.invalid;
      if (!product.active) return refusals.notFound;
      if (reference !== null && isReferenceTaken(model, reference)) return refusals.referenceTaken;
      if (given?.isDeleted) return refusals.customerNotFound;
      if (op.customer.kind === 'new' && isTaken(model, email)) return refusals.emailTaken;
      return {
        status: 200,
        body: { code: 0 },
        apply: ({ key: text }: Answered) => {
          const customer: Customer | null =
            op.customer.kind === 'new' ? addCustomer(model, { id: '', name: model.name, email }) : (given ?? null);
          model.keys.push({
            text,
            product,
            reference,
            createdAt: model.now,
            updatedAt: model.now,
            change: 'none',
            earlier: [],
            customer,
            maxActivations: op.maxActivations,
            expiresAt: op.expires === undefined ? defaultEnd(model, op) : expiresAt,
            expiresAfter: op.expiresAfter,
            grace: op.grace,
            features: op.metadata?.features ?? {},
            isTrial: op.metadata?.is_trial ?? false,
            metadata: op.metadata?.order === undefined ? {} : { order: op.metadata.order },
            allowedHosts: op.allowedHosts,
            licenseType: isFloating ? 'floating' : 'node-locked',
            maxSessions: op.maxSessions || null,
            heartbeatSeconds: 60,
            leaseSeconds: op.leaseSeconds,
            customerCanSelfReset: false,
            isBlocked: false,
            isDeleted: false,
            devices: [],
            sessions: [],
          });
        },
      };
    },
  };
}

/** The end of a key that is created without one: its first use sets it, or it comes after a month. */
const defaultEnd = ({ now }: Model, { expiresAfter }: Operation<'create'>): number | null =>
  expiresAfter === null ? later(now, { months: 1 }) : null;

const isReferenceTaken = ({ keys }: Model, reference: string): boolean =>
  keys.some((key) => !key.isDeleted && key.reference === reference);

/** The licence as an admin reads it. */
export const viewOf = (key: Key) => ({
  key: key.text,
  productId: key.product.id,
  maxActivations: key.maxActivations,
  activations: key.devices.length,
  activated: isActivated(key),
  expirationDate: instantOrNull(key.expiresAt),
  ...(hasTerms && {
    reference: key.reference,
    expiresAfter: key.expiresAfter && durationText(key.expiresAfter),
    gracePeriod: key.grace && durationText(key.grace),
    graceUntil: instantOrNull(graceEnd(key)),
  }),
  metadata: { ...key.metadata, features: key.features, is_trial: key.isTrial },
  allowedHosts: key.allowedHosts,
  licenseType: key.licenseType,
  maxConcurrentSessions: key.maxSessions,
  heartbeatInterval: key.heartbeatSeconds,
  sessionLeaseDuration: key.leaseSeconds,
  customerCanSelfReset: key.customerCanSelfReset,
  vendorDisabled: key.isBlocked,
  devices: key.devices.map(({ hostId, tag, activatedAt }) => ({
    hostId,
    deviceTag: tag ?? 'No tag',
    activationTime: instantAt(activatedAt),
  })),
  createdAt: instantAt(key.createdAt),
});

const instantOrNull = (at: number | null): string | null => (at === null ? null : instantAt(at));

/** Its customer, as it stands beside it. */
export const customerViewOf = ({ customer }: Key) =>
  customer && { id: customer.id, name: customer.name, email: customer.email, active: customer.active };
