import type { Scope } from '../../contract/scopes.ts';
import type { Token } from '../../contract/tokens.ts';

export interface Situation {
  /** Null until the service is chosen. */
  readonly baseUrl: string | null;
  /** The source of the token; null until it is known. */
  readonly tokenFrom: string | null;
  /** The database of the server, if the profile belongs to a server on this machine. */
  readonly servedDb?: string | undefined;
  /** The scopes that the command may need. */
  readonly scopes?: readonly Scope[];
  /** The token that lacks a scope; null if the service does not describe it. */
  readonly token?: Pick<Token, 'name' | 'scopes'> | null;
  readonly now: number;
  /** The command line with another idempotency key, or another value of an option. */
  rerun(value: string, option?: string): string;
}

export const addressIn = ({ baseUrl }: Situation): string => baseUrl ?? 'this';
