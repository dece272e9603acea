import type { Operation } from '../operations.ts';
import { type Answered, type Customer, type Key, type Model, pick, type Step } from '../state.ts';
import { instantAt, later } from '../time.ts';
import { addCustomer, emailOf, isTaken } from './customers.ts';
import { refusals } from './use.ts';

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
  const isFloating = op.maxSessions !== null;
  return {
    request: {
      method: 'POST',
      path: '/create-key',
      body: {
        productId: product.id,
        ...(op.maxActivations !== null && { usesPerKey: String(op.maxActivations) }),
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
      if (!product.active) return refusals.notFound;
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
            createdAt: model.now,
            updatedAt: model.now,
            customer,
            maxActivations: op.maxActivations,
            // A request that is sent again later still says the instant of its first time.
            expiresAt: op.expires === undefined ? later(model.now, { months: 1 }) : expiresAt,
            metadata: { features: {}, is_trial: false, ...op.metadata },
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

/** The licence as an admin reads it. */
export const viewOf = (key: Key) => ({
  key: key.text,
  productId: key.product.id,
  maxActivations: key.maxActivations,
  activations: key.devices.length,
  activated: key.devices.length > 0 && !key.isBlocked,
  expirationDate: key.expiresAt === null ? null : instantAt(key.expiresAt),
  metadata: key.metadata,
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
  updatedAt: instantAt(key.updatedAt),
});

/** Its customer, as it stands beside it. */
export const customerViewOf = ({ customer }: Key) =>
  customer && { id: customer.id, name: customer.name, email: customer.email, active: customer.active };
