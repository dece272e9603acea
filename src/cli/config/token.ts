import { NoTokenError, UsageError } from '../failure/errors.ts';
import type { GlobalFlags } from '../global-options.ts';
import type { Io } from '../io.ts';
import type { TokenWithOrigin } from '../request/connection.ts';
import type { RemoteTarget } from '../request/target.ts';
import { readText } from '../values/files.ts';
import { readPrivateFile, type SecretFlags } from './files.ts';
import { keyringOf } from './keyring.ts';
import { hasToken, type NamedProfile, originOf, type StoredToken } from './profiles.ts';

/** Finds the token: flag, named profile, environment, current profile. A stored token is sent to its own origin only. */
export async function findToken(flags: GlobalFlags, target: RemoteTarget, io: Io): Promise<TokenWithOrigin> {
  const { LKM_TOKEN, LKM_TOKEN_FILE } = io.env;
  const profile = target.profile && hasToken(target.profile) ? target.profile : null;
  if (flags.tokenFile) return readTokenFile(flags.tokenFile, '--token-file', io, flags);
  if (profile?.explicit) return storedToken(target, profile, io);
  if (LKM_TOKEN && LKM_TOKEN_FILE) {
    throw new UsageError('LKM_TOKEN and LKM_TOKEN_FILE are both set; unset one of them');
  }
  if (LKM_TOKEN) return readToken(LKM_TOKEN, 'LKM_TOKEN');
  if (LKM_TOKEN_FILE) return readTokenFile(LKM_TOKEN_FILE, 'LKM_TOKEN_FILE', io, flags);
  if (profile !== null) return storedToken(target, profile, io);
  const isAtTerminal = io.stderr.isTTY && io.stdin.isTTY;
  const login = isAtTerminal ? [['Log in:', `lkm login --base-url ${target.baseUrl}`] as const] : [];
  throw new NoTokenError(`there is no token for ${target.baseUrl}`, [...login, ...waysToGiveOne]);
}

/** The token in a private file, or on stdin for `-`. Throws `UsageError`. */
export const readTokenFile = async (path: string, from: string, io: Io, flags: SecretFlags): Promise<TokenWithOrigin> =>
  readToken(path === '-' ? await readText('-', io) : readPrivateFile(path, io, flags), from);

/** Removes the line break that a shell or a secret store adds. Errors never contain the token. */
export function readToken(text: string, from: string): TokenWithOrigin {
  const token = text.trim();
  const hasMore = /^(?:["']|LKM_TOKEN=)/.test(token);
  if (/^[!-~]{1,1024}$/.test(token) && !hasMore) return { token, from };
  throw new UsageError(`the text from ${from} is not a token`, [
    hasMore
      ? 'Give it alone: without quotes, which docker --env-file keeps, and without LKM_TOKEN= before it.'
      : 'It is one word of at most 1024 characters, such as lkm_scoped_…',
  ]);
}

/** The token of a profile; null if the keyring does not return it. */
export const tokenIn = ({ token, keyring }: StoredToken, io: Io): string | null =>
  keyring === undefined ? token : (keyringOf(io)?.read(keyring) ?? null);

export const placeOf = (name: string, keyring: string | undefined): string =>
  `profile ${name}${keyring === undefined ? '' : ', in the keyring'}`;

function storedToken({ baseUrl }: RemoteTarget, profile: NamedProfile, io: Io): TokenWithOrigin {
  const { name, keyring } = profile;
  const [asked, own] = [originOf(baseUrl), originOf(profile.baseUrl)];
  if (asked !== own) {
    throw new NoTokenError(
      `the token of profile ${name} belongs to ${own ?? 'a server that has ended'} and is not sent to ${asked}`,
      waysToGiveOne,
    );
  }
  const token = tokenIn(profile, io);
  if (token !== null) return { token, from: placeOf(name, keyring) };
  throw new NoTokenError(`the keyring does not give the token of profile ${name}: it is locked, or the token is gone`, [
    ['Store it again:', `lkm auth login -p ${name}`],
    ...waysToGiveOne,
  ]);
}

const waysToGiveOne = [
  ['In scripts:', 'export LKM_TOKEN=…'],
  ['From a file:', '--token-file PATH, or - for stdin'],
] as const;
