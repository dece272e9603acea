import type { ApiError } from '../../contract/errors.ts';
import { listEndpoints } from '../../contract/index.ts';
import type { Scope } from '../../contract/scopes.ts';
import { type RoleName, roleNames, type TokenRole, tokenRoles } from '../commands/token-roles.ts';
import { firstLower, quote } from '../output/words.ts';
import type { CommandError } from './errors.ts';
import type { Situation } from './situation.ts';

/** Advice for a token that lacks a scope. */
export function adviseOnScope(
  error: ApiError,
  { tokenFrom, scopes = [], token }: Situation,
): Pick<CommandError, 'message' | 'hints'> {
  const scope = endpointOf(error.call?.operation)?.scope ?? 'a scope';
  if (token?.scopes.includes(scope as Scope)) return { message: firstLower(error.message), hints: [] };
  const held = token?.scopes.filter((one) => one !== scope) ?? [];
  const wanted = [...new Set([...(scopes.length > 0 ? scopes : [scope as Scope]), ...held])];
  const role = roleWithin(wanted);
  const rest = role === undefined ? wanted : wanted.filter((one) => !scopesOfRole(role).includes(one));
  const rights = [
    role === undefined ? '--kind scoped' : `--role ${role}`,
    ...(rest.length > 0 ? [`--scope ${rest}`] : []),
  ];
  const file = tokenFrom === '--token-file' ? ' --token-file FILE' : '';
  const name = quote(token?.name ?? 'NAME');
  return {
    message: `this token lacks ${scope}`,
    hints: [
      ...(token ? [`It may do: ${token.scopes.join(', ')}.`] : []),
      ...(scopes.length > 0 ? [`The command can need: ${scopes.join(', ')}.`] : []),
      'An admin token can make a token that works:',
      ['', `lkm tokens create ${rights.join(' ')} --name ${name}${file}`],
    ],
  };
}

const scopesOfRole = (name: RoleName): readonly Scope[] => {
  const { scopes = [] }: TokenRole = tokenRoles[name];
  return scopes;
};

/** The role that has the most of these scopes and no further scope. */
const roleWithin = (wanted: readonly Scope[]): RoleName | undefined =>
  roleNames
    .filter((name) => scopesOfRole(name).length > 0 && scopesOfRole(name).every((scope) => wanted.includes(scope)))
    .toSorted((one, other) => scopesOfRole(other).length - scopesOfRole(one).length)[0];

/** The endpoint that a request is of, by its method and path: `POST /create-key`; undefined for another request. */
export const endpointOf = (operation: string | undefined) =>
  listEndpoints().find(({ endpoint }) => `${endpoint.method} ${endpoint.path}` === operation)?.endpoint;
