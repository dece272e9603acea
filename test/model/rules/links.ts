import { createHmac } from 'node:crypto';
import type { Operation } from '../operations.ts';
import { type Customer, done, type Key, type Model, pick, type Step } from '../state.ts';
import { instantAt, later } from '../time.ts';
import { leaveSlot, movesLeft } from './slots.ts';
import { isActivated, refusals } from './use.ts';

/** Makes a link to the page of a customer. */
export const link = (model: Model, { customer: number, seconds }: Operation<'link'>): Step | null =>
  ofCustomer(model, number, ({ id: customerId, links }) => ({
    method: 'POST',
    path: '/customer/link',
    body: { customerId, expiresIn: seconds },
    predict: () => {
      const endsAt = later(model.now, { seconds });
      return done({ data: { expiresAt: instantAt(endsAt) } }, ({ data }) => {
        links.push({ path: new URL(data.url).pathname, endsAt });
      });
    },
  }));

/** Ends the links of a customer. */
export const unlink = (model: Model, { customer: number }: Operation<'unlink'>): Step | null =>
  ofCustomer(model, number, ({ id: customerId, links }) => ({
    method: 'DELETE',
    path: `/customer/link?${new URLSearchParams({ customerId })}`,
    predict: () => done({ status: true }, () => void links.splice(0)),
  }));

function ofCustomer(
  { customers }: Model,
  number: number,
  plan: (customer: Customer) => Omit<Step, 'touched'>,
): Step | null {
  const customer = pick(
    customers.filter(({ id }) => id !== ''),
    number,
  );
  if (customer === undefined) return null;
  const step = plan(customer);
  return {
    ...step,
    touched: () => [],
    predict: () => (customer.isDeleted ? refusals.customerNotFound : step.predict()),
  };
}

/** What the page answers: HTML, without a code. */
const answered = (status: number) => ({ status, code: undefined });

/** Frees a device on the page of a customer: that of the key, or another one that has been given a link. */
export function freeOnPage(model: Model, op: Operation<'freeOnPage'>): Step | null {
  const key = pick(model.keys, op.key);
  const linked = model.customers.flatMap((customer) => customer.links.map((link) => ({ ...link, customer })));
  const own = linked.filter(({ customer }) => customer === key?.customer);
  const link = pick(op.isForeign || own.length === 0 ? linked : own, op.link);
  if (key === undefined || link === undefined) return null;
  const { customer, path, endsAt } = link;
  const device = key.devices.find(({ hostId }) => hostId === op.hostId);
  const id = device?.id ?? 'dev_gone';
  const token = path.slice('/my/'.length);
  const signature = createHmac('sha256', token).update(`free ${id}`).digest('base64url');
  return {
    method: 'POST',
    path,
    form: { key: key.id, device: id, form: signature },
    touched: () => [key],
    predict: () => {
      if (customer.isDeleted || !customer.links.some((one) => one.path === path) || model.now >= endsAt) {
        return answered(404);
      }
      if (!isOf(key, customer) || device === undefined || !isActivated(key)) return answered(409);
      if (movesLeft(key, model.now) === 0) return answered(403);
      return { status: 303, body: undefined, apply: () => leaveSlot(key, op.hostId, 'client', model.now) };
    },
  };
}

const isOf = (key: Key, customer: Customer): boolean => !key.isDeleted && key.customer === customer;
