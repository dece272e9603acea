import type { Scope, TokenKind } from '../../contract/scopes.ts';

export interface TokenRole {
  readonly kind: TokenKind;
  /** The scopes of a scoped token; other kinds have fixed scopes. */
  readonly scopes?: readonly Scope[];
  readonly about: string;
}

/** The scopes that a role needs for its commands. */
export const tokenRoles = {
  ci: {
    kind: 'scoped',
    scopes: ['license:read', 'license:write', 'customer:read', 'customer:write', 'product:read'],
    about: 'issues and changes keys for orders; sees keys masked, but for those it issues',
  },
  support: {
    kind: 'scoped',
    scopes: [
      'license:read',
      'license:write',
      'license:activate',
      'license:sign',
      'license:reveal',
      'customer:read',
      'customer:write',
      'product:read',
      'event:read',
    ],
    about: 'helps customers: finds, renews, blocks and replaces keys, frees devices, signs licence files',
  },
  sales: {
    kind: 'scoped',
    scopes: [
      'license:read',
      'license:write',
      'license:reveal',
      'customer:read',
      'customer:write',
      'product:read',
      'product:write',
    ],
    about: 'sells: products, plans, customers and their keys',
  },
  app: { kind: 'client', about: 'ships inside an application: activates and signs for one device' },
  auditor: {
    kind: 'scoped',
    scopes: ['license:read', 'customer:read', 'product:read', 'event:read', 'audit:read', 'token:read', 'webhook:read'],
    about: 'reads everything and changes nothing; sees keys masked',
  },
} as const satisfies Readonly<Record<string, TokenRole>>;

export type RoleName = keyof typeof tokenRoles;

export const roleNames = Object.keys(tokenRoles) as readonly RoleName[];
