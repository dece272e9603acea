import { z } from 'zod';

/** Permissions, `resource:action`. Source: API description, "Authentication", 2, and decision 0008. */
export const scopes = [
  'license:read',
  'license:write',
  'license:activate',
  'license:sign',
  'license:reveal',
  'customer:read',
  'customer:write',
  'customer:delete',
  'product:read',
  'product:write',
  'token:read',
  'token:write',
  'event:read',
  'webhook:read',
  'webhook:write',
  'audit:read',
] as const;

export const Scope = z.enum(scopes).meta({ id: 'Scope', description: 'A permission' });

/** A permission such as `license:read`. */
export type Scope = z.output<typeof Scope>;

export const tokenKinds = ['admin', 'read-only', 'client', 'scoped'] as const;

export const TokenKind = z.enum(tokenKinds).meta({
  id: 'TokenKind',
  description:
    'What a token is for: admin may do everything, read-only may read and sees keys masked, client is shipped inside an ' +
    'application and serves one device, scoped may do what its scopes say',
  examples: ['scoped'],
});

/** The purpose of a token; every kind but `scoped` implies its scopes. */
export type TokenKind = z.output<typeof TokenKind>;
