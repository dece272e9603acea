import { listEndpoints } from '../../contract/index.ts';
import type { Scope } from '../../contract/scopes.ts';
import { type Declaration, parametersOf } from '../command.ts';

export interface NeededScope {
  readonly scope: Scope;
  readonly purpose: string;
}

/** The scopes that a command may need, the scope of its operation first. */
export function neededScopes(command: Declaration): readonly NeededScope[] {
  const { operation, alsoNeeds = {}, isLocal } = command;
  if (isLocal) return [];
  const own = listEndpoints().find(({ name }) => name === operation)?.endpoint.scope;
  const specs = Object.values(parametersOf(command));
  const takes = (field: string): boolean => specs.some((spec) => spec.field === field);
  const all: readonly (readonly [isNeeded: boolean, scope: Scope, purpose: string])[] = [
    ...Object.entries(alsoNeeds).map(([scope, purpose]) => [true, scope as Scope, purpose] as const),
    [takes('licenseKey') && takes('productId'), 'license:read', 'to find the product of a key'],
    [takes('productId'), 'product:read', 'for a product by its name'],
    [takes('planId'), 'product:read', 'for a plan by its name'],
    [takes('customerId'), 'customer:read', 'for a customer by name or address'],
    [takes('tokenId'), 'token:read', 'for a token by its name'],
    [takes('sessionId'), 'license:read', 'for a session by its device or user'],
    [takes('webhookId'), 'webhook:read', 'for a webhook by its URL'],
  ];
  const needed = new Map<Scope, string>();
  if (own !== undefined && own !== 'none' && own !== 'public') needed.set(own, 'always');
  for (const [isNeeded, scope, purpose] of all) if (isNeeded && !needed.has(scope)) needed.set(scope, purpose);
  return [...needed].map(([scope, purpose]) => ({ scope, purpose }));
}
