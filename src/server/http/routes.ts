import type { AnyEndpoint, InputOf, ResultOf } from '../../contract/endpoint.ts';
import { type Contract, listEndpoints } from '../../contract/index.ts';
import { type Caller, canAccessProduct } from '../../domain/access.ts';
import type { Context } from '../../service/context.ts';
import { createCustomer, deleteCustomer, listCustomers } from '../../service/customers.ts';
import { deactivateKey, mayDeactivate, signKey } from '../../service/devices.ts';
import { createKey, getKey } from '../../service/keys.ts';
import { createProduct, getProduct, listProducts, updateProduct } from '../../service/products.ts';
import { checkoutKey } from '../../service/sessions.ts';
import { listPublicKeys } from '../../service/signing-keys.ts';
import { createToken, listTokens, mayCreateToken, revokeToken, showSelf } from '../../service/tokens.ts';

type UseCase<E> = (context: Context, input: InputOf<E>) => Promise<ResultOf<E>>;

type UseCases<C> = { [R in keyof C]: { [N in keyof C[R]]: UseCase<C[R][N]> } };

/** What each endpoint does; one without a use case does not compile. */
const useCases: UseCases<Contract> = {
  keys: { create: createKey, get: getKey, deactivate: deactivateKey, sign: signKey, checkout: checkoutKey },
  customers: { list: listCustomers, create: createCustomer, delete: deleteCustomer },
  products: { list: listProducts, create: createProduct, get: getProduct, update: updateProduct },
  tokens: { list: listTokens, create: createToken, revoke: revokeToken, self: showSelf },
  signingKeys: { jwks: listPublicKeys },
};

/** An endpoint with what it does. */
export interface Route {
  readonly endpoint: AnyEndpoint;
  /** `input` has been parsed by the endpoint's schemas, and the answer fits its reply. */
  perform(context: Context, input: unknown): Promise<unknown>;
  /**
   * Whether the caller may have what another token of its account was answered for this input. One that may not is
   * left to the use case, which refuses it.
   */
  mayReplay(caller: Caller, input: Record<string, unknown>): boolean;
}

/** Every endpoint of the contract with its use case. */
export function listRoutes(): Route[] {
  return listEndpoints().map(({ name, endpoint }) => {
    const [resource = '', operation = ''] = name.split('.');
    const perform = (useCases as Record<string, Record<string, Route['perform']>>)[resource]?.[operation];
    if (perform === undefined) throw new Error(`${name} has no use case`);
    return { endpoint, perform, mayReplay: mayReplay[name] ?? mayTouch };
  });
}

const mayTouch: Route['mayReplay'] = (caller, { productId }) =>
  typeof productId !== 'string' || canAccessProduct(caller, productId);

const mayReplay: Readonly<Record<string, Route['mayReplay']>> = {
  'keys.deactivate': (caller, input) =>
    mayTouch(caller, input) && mayDeactivate(caller, input as InputOf<Contract['keys']['deactivate']>),
  'tokens.create': (caller, input) => mayCreateToken(caller, input as InputOf<Contract['tokens']['create']>),
};
