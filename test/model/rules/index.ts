import type { Operation, RequestKind } from '../operations.ts';
import type { Model, Step } from '../state.ts';
import { block, deleteKey, renew, transfer, update } from './changes.ts';
import { createCustomer, deleteCustomer, updateCustomer } from './customers.ts';
import { activate, deactivate, rebind, sign } from './devices.ts';
import { create } from './keys.ts';
import { setProduct } from './products.ts';
import { checkin, checkout, heartbeat, releaseSession } from './sessions.ts';

/** The request that sends an operation, and what the service has to do with it; null where there is nothing to name in it. */
export function planStep(model: Model, operation: Operation<RequestKind>): Step | null {
  switch (operation.kind) {
    case 'create':
      return create(model, operation);
    case 'sign':
      return sign(model, operation);
    case 'deactivate':
      return deactivate(model, operation);
    case 'checkout':
      return checkout(model, operation);
    case 'activate':
      return activate(model, operation);
    case 'rebind':
      return rebind(model, operation);
    case 'heartbeat':
      return heartbeat(model, operation);
    case 'checkin':
      return checkin(model, operation);
    case 'releaseSession':
      return releaseSession(model, operation);
    case 'update':
      return update(model, operation);
    case 'renew':
      return renew(model, operation);
    case 'transfer':
      return transfer(model, operation);
    case 'block':
      return block(model, operation);
    case 'deleteKey':
      return deleteKey(model, operation);
    case 'updateCustomer':
      return updateCustomer(model, operation);
    case 'createCustomer':
      return createCustomer(model, operation);
    case 'deleteCustomer':
      return deleteCustomer(model, operation);
    case 'setProduct':
      return setProduct(model, operation);
  }
}
