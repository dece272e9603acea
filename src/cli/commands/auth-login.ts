import type { Client } from '../../client/client.ts';
import { ApiError } from '../../contract/errors.ts';
import type { Token } from '../../contract/tokens.ts';
import { command, flag, yes } from '../command.ts';
import { type Config, configFile, readConfig } from '../config/config-file.ts';
import { keyringOf } from '../config/keyring.ts';
import {
  addProfile,
  changeProfile,
  namedProfile,
  originOf,
  placeOfService,
  switchProfile,
} from '../config/profiles.ts';
import { placeOf, readToken, readTokenFile, tokenIn } from '../config/token.ts';
import type { CommandContext } from '../context.ts';
import { NoTokenError, UsageError } from '../failure/errors.ts';
import type { Note } from '../output/terminal.ts';
import { confirm } from '../prompts/questions.ts';
import { openClient, type TokenWithOrigin } from '../request/connection.ts';
import { observe } from '../request/observe.ts';
import { withScheme } from '../request/target.ts';
import { identityFields } from './auth.ts';
import { namedRecord } from './results.ts';

export const authLogin = command({
  about:
    'Stores a token for a service as a profile, and makes that the current one. The token comes from a hidden prompt, ' +
    'or from stdin with --with-token; it is checked against the service before it is stored. --profile names the ' +
    'profile; without it, that is the host of the service. The token goes into the keyring of the system; where there is ' +
    'none, or with --insecure-storage, into the configuration, which only its owner can read.',
  options: {
    withToken: flag('--with-token', 'read the token from stdin'),
    insecureStorage: flag('--insecure-storage', 'keep the token in a file of this user, even if there is a keyring'),
    yes,
  },
  fields: identityFields,
  examples: [
    ['lkm auth login --base-url https://lkm.example', 'asks for the token'],
    ['lkm auth login --base-url https://lkm.example --with-token', 'from stdin: pass show lkm | …'],
    ['lkm auth login -p test --base-url http://127.0.0.1:4747', 'under a name of its own'],
  ],

  async run({ withToken, insecureStorage, yes }, context) {
    const { io } = context;
    const config = await readConfig(io);
    const address = await chooseAddress(config, context);
    const given = await chooseToken(address, withToken, context);
    const identity = await identify({ baseUrl: address, token: given }, context);
    const baseUrl = new URL(address).href.replace(/\/+$/, '');
    const login = { baseUrl, token: given.token, name: chooseName(config, baseUrl, given.token, context) };
    if (!yes) await confirmReplacing(config, login, context);
    const { profile, keyring } = await store(config, login, insecureStorage, context);
    const row = { service: baseUrl, profile, tokenFrom: placeOf(profile, keyring), ...identity };
    return {
      ...namedRecord(row, profile),
      notes: [
        { tone: 'done', text: `logged in to ${baseUrl} as profile ${profile}` },
        whereItIs(keyring, insecureStorage, context),
        ...overruled(context),
      ],
    };
  },
});

/** From `--base-url`, its variable, or a profile; otherwise asks. */
async function chooseAddress({ profiles, currentProfile }: Config, { flags, io, settings }: CommandContext) {
  if (flags.db) throw new UsageError('--db needs no login: whoever may open the database is its owner');
  if (flags.baseUrl) return withScheme(flags.baseUrl, '--base-url');
  if (io.env.LKM_BASE_URL) return withScheme(io.env.LKM_BASE_URL, 'LKM_BASE_URL');
  const known = profiles[namedProfile(flags, io) ?? currentProfile ?? ''];
  if (known?.baseUrl) return known.baseUrl;
  if (settings.interactive) {
    return withScheme((await io.prompter(settings).type('address of the service:')).trim(), '--base-url');
  }
  throw new UsageError('which service? Its address is not given', [['Give it:', '--base-url URL']]);
}

async function chooseToken(address: string, withToken: boolean, context: CommandContext) {
  const { flags, io, settings } = context;
  if (flags.tokenFile) return readTokenFile(flags.tokenFile, '--token-file', io, flags);
  if (withToken) return readTokenFile('-', 'stdin', io, flags);
  if (settings.interactive) {
    await tryAddress(address, context);
    return readToken(await io.prompter(settings).secret(`token for ${address}:`), 'the prompt');
  }
  throw new NoTokenError(`there is no token to store, and nothing can be asked: ${settings.notInteractive}`, [
    ['Give it on stdin:', ['lkm auth login', ...settings.serviceOptions.flat(), '--with-token < FILE'].join(' ')],
  ]);
}

async function call<T>(
  service: { readonly baseUrl: string; readonly token: TokenWithOrigin | null },
  { io, settings }: CommandContext,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const observation = observe(settings, io);
  const connection = { ...service, fetch: io.fetch, close: async () => {} };
  try {
    return await work(await openClient(connection, observation, settings, io));
  } finally {
    observation.end();
  }
}

/** Checks that lkm answers before a secret is asked for. */
async function tryAddress(baseUrl: string, context: CommandContext): Promise<void> {
  await call({ baseUrl, token: null }, context, ({ signingKeys }) => signingKeys.jwks());
}

/** Throws `NoTokenError` if the service refuses the token. */
async function identify(
  service: { readonly baseUrl: string; readonly token: TokenWithOrigin },
  context: CommandContext,
): Promise<Token> {
  try {
    return await call(service, context, ({ tokens }) => tokens.self());
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error;
    throw new NoTokenError(`${service.baseUrl} refused this token; nothing was stored`, [
      'It may be mistyped, revoked, expired, or of another service.',
    ]);
  }
}

interface Login {
  readonly name: string;
  readonly baseUrl: string;
  readonly token: string;
}

/**
 * The given name, the profile with the same token, or the host. Throws `UsageError` if the profile belongs to another
 * service.
 */
function chooseName({ profiles }: Config, baseUrl: string, token: string, { flags, io }: CommandContext): string {
  const { origin, host } = new URL(baseUrl);
  const same = Object.keys(profiles).find((name) => {
    const profile = profiles[name];
    return profile && originOf(profile.baseUrl) === origin && tokenIn(profile, io) === token;
  });
  const name = flags.profile ?? (same || host.replaceAll(':', '-'));
  const known = profiles[name];
  if (known === undefined || originOf(known.baseUrl) === origin) return name;
  throw new UsageError(`profile ${name} is of another service, ${placeOfService(known)}`, [
    ['Take another name:', '--profile NAME'],
    ['Or forget it:', `lkm auth logout ${name}`],
  ]);
}

/** Replaces a valid token only with consent. */
async function confirmReplacing({ profiles }: Config, { name, baseUrl, token }: Login, context: CommandContext) {
  const known = profiles[name];
  const before = known && tokenIn(known, context.io);
  if (!before || before === token) return;
  try {
    await identify({ baseUrl, token: { token: before, from: 'login' } }, context);
  } catch (error) {
    if (error instanceof NoTokenError) return;
    throw error;
  }
  await confirm(context, {
    about: [`profile ${name} holds another token, which still works and is stored nowhere else by lkm`],
    question: 'replace it?',
    action: `replacing the token of profile ${name}`,
    flag: '--yes, or --profile NAME for another profile',
  });
}

/** Stores the token, in the keyring if possible, and makes its profile the current one. */
async function store(
  { profiles }: Config,
  { name, baseUrl, token }: Login,
  insecureStorage: boolean,
  { io }: CommandContext,
): Promise<{ readonly profile: string; readonly keyring?: string }> {
  const known = profiles[name];
  const ring = keyringOf(io);
  const entry = io.uuid();
  const isKept = !insecureStorage && (ring?.store(entry, token, new URL(baseUrl).origin) ?? false);
  const stored = isKept ? { token: null, keyring: entry } : { token };
  try {
    const profile = known ? name : await addProfile(io, name, { baseUrl, ...stored });
    if (known) await changeProfile(io, name, ({ keyring: _, ...others }) => ({ ...others, ...stored }));
    if (known?.keyring !== undefined) ring?.remove(known.keyring);
    await switchProfile(io, profile);
    return { profile, ...(isKept && { keyring: entry }) };
  } catch (error) {
    // No profile refers to the entry.
    if (isKept) ring?.remove(entry);
    throw error;
  }
}

function whereItIs(keyring: string | undefined, isChosen: boolean, { io }: CommandContext): Note {
  if (keyring !== undefined) return { tone: 'hint', text: "its token is in the system's keyring" };
  const why = isChosen ? '' : ': no keyring took it';
  return { tone: 'hint', text: `its token is in ${configFile(io)}, which only you can read${why}` };
}

/** Warns about variables that override the new profile. */
function overruled({ io: { env } }: CommandContext): Note[] {
  const names = ['LKM_DB', 'LKM_BASE_URL', 'LKM_TOKEN', 'LKM_TOKEN_FILE', 'LKM_PROFILE'].filter((name) => env[name]);
  if (names.length === 0) return [];
  return [{ tone: 'warning', text: `${names.join(' and ')} in the environment go before this profile` }];
}
