import type { Client } from '../../client/client.ts';
import { ApiError } from '../../contract/errors.ts';
import type { Token } from '../../contract/tokens.ts';
import { command, flag, yes } from '../command.ts';
import { configFile, type Profile, readConfig } from '../config/config-file.ts';
import { keyringOf } from '../config/keyring.ts';
import {
  addProfile,
  changeProfile,
  namedProfile,
  originOf,
  type StoredToken,
  switchProfile,
} from '../config/profiles.ts';
import { readToken, readTokenFile, tokenIn } from '../config/token.ts';
import type { CommandContext } from '../context.ts';
import { NoTokenError, UsageError } from '../failure/errors.ts';
import type { Io } from '../io.ts';
import type { Note } from '../output/terminal.ts';
import { confirm } from '../prompts/questions.ts';
import { openClient } from '../request/connection.ts';
import { observe } from '../request/observe.ts';
import { checkScheme } from '../request/target.ts';
import { identityFields } from './auth.ts';

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
    const baseUrl = await chooseBaseUrl(context);
    const token = await chooseToken(baseUrl, withToken, context);
    const { baseUrl: service, identity } = await identify(baseUrl, token, context);
    const { profile, keyring } = await store({ baseUrl: service, token, insecureStorage, yes }, context);
    const tokenFrom = `profile ${profile}${keyring === undefined ? '' : ', in the keyring'}`;
    const row = { service, profile, tokenFrom, ...identity };
    return {
      kind: 'record',
      row,
      data: row,
      quiet: [profile],
      notes: [
        { tone: 'done', text: `logged in to ${service} as profile ${profile}` },
        whereItIs(keyring, insecureStorage, context),
        ...overruled(context),
      ],
    };
  },
});

/** `--base-url`, its variable, the address of the named or the current profile; else the person is asked. */
async function chooseBaseUrl({ flags, io, settings }: CommandContext): Promise<string> {
  if (flags.db) throw new UsageError('--db needs no login: whoever may open the database is its owner');
  const { profiles, currentProfile } = await readConfig(io);
  const known = profiles[namedProfile(flags, io) ?? currentProfile ?? ''];
  if (flags.baseUrl) return checkScheme(flags.baseUrl, '--base-url');
  if (io.env.LKM_BASE_URL) return checkScheme(io.env.LKM_BASE_URL, 'LKM_BASE_URL');
  if (known) return known.baseUrl;
  if (settings.interactive) {
    return checkScheme((await io.prompter.type('address of the service:')).trim(), '--base-url');
  }
  throw new UsageError('which service? Its address is not given', [['Give it:', '--base-url URL']]);
}

async function chooseToken(baseUrl: string, withToken: boolean, { flags, io, settings }: CommandContext) {
  if (flags.tokenFile) return readTokenFile(flags.tokenFile, '--token-file', io);
  if (withToken) return readTokenFile('-', 'stdin', io);
  if (settings.interactive) return readToken(await io.prompter.secret(`token for ${baseUrl}:`), 'the prompt');
  throw new NoTokenError(`there is no token to store, and nothing can be asked: ${settings.notInteractive}`, [
    ['Give it on stdin:', ['lkm auth login', ...settings.serviceOptions.flat(), '--with-token < FILE'].join(' ')],
  ]);
}

/** Who a token is at a service, which is asked. Throws `NoTokenError` when the service does not know the token. */
async function identify(
  baseUrl: string,
  token: string,
  { io, settings }: CommandContext,
): Promise<{ baseUrl: string; identity: Token }> {
  const connection = {
    baseUrl,
    ca: await certificateFor(baseUrl, io),
    fetch: io.fetch,
    token: { token, from: 'login' },
    close: async () => {},
  };
  const observation = observe(settings, io);
  const client: Client = await openClient(connection, observation, settings, io);
  try {
    return { baseUrl: new URL(baseUrl).href.replace(/\/+$/, ''), identity: await client.tokens.self() };
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error;
    throw new NoTokenError(`${baseUrl} refused this token; nothing was stored`, [
      'It may be mistyped, revoked, expired, or of another service.',
    ]);
  } finally {
    observation.end();
  }
}

/** The certificate that a profile of the same service trusts: that of a server which signs its own. */
async function certificateFor(baseUrl: string, io: Io): Promise<string | undefined> {
  const { profiles } = await readConfig(io);
  return Object.values(profiles).find((one) => originOf(one.baseUrl) === originOf(baseUrl))?.ca;
}

interface Login {
  readonly baseUrl: string;
  readonly token: string;
  readonly insecureStorage: boolean;
  readonly yes: boolean;
}

/** Stores the token and returns the name of its profile. A token that still works is replaced only with consent. */
async function store({ baseUrl, token, insecureStorage, yes }: Login, context: CommandContext) {
  const { flags, io } = context;
  const { profiles } = await readConfig(io);
  const origin = new URL(baseUrl).origin;
  const isHere = (one: Profile): boolean => originOf(one.baseUrl) === origin;
  const same = Object.entries(profiles).find(([, one]) => isHere(one) && tokenIn(one, io) === token);
  const name = flags.profile ?? (same?.[0] || new URL(baseUrl).host.replaceAll(':', '-'));
  const known = profiles[name];
  if (known !== undefined && !isHere(known)) {
    throw new UsageError(`profile ${name} is of another service, ${known.baseUrl}`, [
      ['Take another name:', '--profile NAME'],
      ['Or forget it:', `lkm auth logout ${name}`],
    ]);
  }
  const before = known && tokenIn(known, io);
  if (before && before !== token && !yes && (await works(known.baseUrl, before, context))) {
    await confirm(context, {
      about: [`profile ${name} holds another token, which still works and is stored nowhere else by lkm`],
      question: 'replace it?',
      action: `replacing the token of profile ${name}`,
      flag: '--yes, or --profile NAME for another profile',
    });
  }
  const stored = insecureStorage ? { token } : keep(token, origin, io);
  const ca = await certificateFor(baseUrl, io);
  const profile = await orForget(stored, io, async () => {
    if (known === undefined) return addProfile(io, name, { baseUrl, ca, ...stored });
    await changeProfile(io, name, ({ keyring: _, ...others }) => ({ ...others, ...stored }));
    return name;
  });
  if (known?.keyring !== undefined) keyringOf(io)?.remove(known.keyring);
  await switchProfile(io, profile);
  return { profile, ...stored };
}

/** Puts a token into the keyring, under a name of its own; else it goes into the configuration. */
function keep(token: string, origin: string, io: Io): StoredToken {
  const keyring = io.uuid();
  return keyringOf(io)?.store(keyring, token, origin) ? { token: null, keyring } : { token };
}

/** Stores what names an entry of the keyring; one that nothing names is removed. */
async function orForget<T>({ keyring }: StoredToken, io: Io, store: () => Promise<T>): Promise<T> {
  try {
    return await store();
  } catch (error) {
    if (keyring !== undefined) keyringOf(io)?.remove(keyring);
    throw error;
  }
}

async function works(baseUrl: string, token: string, context: CommandContext): Promise<boolean> {
  try {
    await identify(baseUrl, token, context);
    return true;
  } catch (error) {
    if (error instanceof NoTokenError) return false;
    throw error;
  }
}

function whereItIs(keyring: string | undefined, isChosen: boolean, { io }: CommandContext): Note {
  if (keyring !== undefined) return { tone: 'hint', text: "its token is in the system's keyring" };
  const why = isChosen ? '' : ': no keyring took it';
  return { tone: 'hint', text: `its token is in ${configFile(io)}, which only you can read${why}` };
}

/** Variables that go before the profile that was just stored. */
function overruled({ io: { env } }: CommandContext): Note[] {
  const names = ['LKM_DB', 'LKM_BASE_URL', 'LKM_TOKEN', 'LKM_TOKEN_FILE', 'LKM_PROFILE'].filter((name) => env[name]);
  if (names.length === 0) return [];
  return [{ tone: 'warning', text: `${names.join(' and ')} in the environment go before this profile` }];
}
