import type { AnyEndpoint, InputOf, PayloadOf } from '../contract/endpoint.ts';
import { type Contract, contract } from '../contract/index.ts';
import type { Context } from '../service/context.ts';
import { createCustomer, deleteCustomer, listCustomers } from '../service/customers.ts';
import { deactivateKey, signKey } from '../service/devices.ts';
import { createKey, getKey } from '../service/keys.ts';
import { createProduct, getProduct, listProducts, updateProduct } from '../service/products.ts';
import { checkoutKey } from '../service/sessions.ts';
import { listPublicKeys } from '../service/signing-keys.ts';
import { createToken, listTokens, revokeToken, showSelf } from '../service/tokens.ts';

type UseCase<E> = (context: Context, input: InputOf<E>) => Promise<PayloadOf<E>>;

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
}

/** Every endpoint of the contract with its use case. */
export function listRoutes(): Route[] {
  return Object.entries(contract).flatMap(([resource, endpoints]) =>
    Object.entries(endpoints).map(([name, endpoint]) => ({
      endpoint,
      perform: (useCases as Record<string, Record<string, Route['perform']>>)[resource]?.[name] as Route['perform'],
    })),
  );
}
