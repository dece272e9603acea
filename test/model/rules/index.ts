import type { Operation, RequestKind } from '../operations.ts';
import type { Model, Step } from '../state.ts';
import { createCustomer, deleteCustomer } from './customers.ts';
import { deactivate, sign } from './devices.ts';
import { create } from './keys.ts';
import { setProduct } from './products.ts';
import { checkout } from './sessions.ts';

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
    case 'createCustomer':
      return createCustomer(model, operation);
    case 'deleteCustomer':
      return deleteCustomer(model, operation);
    case 'setProduct':
      return setProduct(model, operation);
  }
}
