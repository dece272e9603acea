import { scopes } from '../../contract/scopes.ts';
import { argument, command } from '../command.ts';
import { readConfig } from '../config/config-file.ts';
import { keyringOf } from '../config/keyring.ts';
import { isPostgres, withoutPassword } from '../config/location.ts';
import { hasToken, namedProfile, placeOfService, removeProfile, switchProfile } from '../config/profiles.ts';
import { findToken } from '../config/token.ts';
import type { CommandContext } from '../context.ts';
import { UsageError } from '../failure/errors.ts';
import type { Field } from '../output/result.ts';
import { sanitise } from '../output/terminal.ts';
import { EMPTY_CELL, expiry, quote, yesNo } from '../output/words.ts';
import { chooseTarget, type Target } from '../request/target.ts';
import { did, listOf, recordOf } from './results.ts';

/** The service, the token, and where both come from. */
export const identityFields: readonly Field[] = [
  { name: 'service' },
  { name: 'profile' },
  { name: 'tokenFrom', label: 'token from' },
  { name: 'id', label: 'token' },
  { name: 'name' },
  { name: 'kind' },
  { name: 'scopes', label: 'may', show: rightsOf },
  { name: 'productIds', label: 'products', show: (ids) => (Array.isArray(ids) ? ids.join(', ') : 'all') },
  { name: 'expiresAt', label: 'expires', show: expiry },
];

/** An admin has all scopes, too many for a line. */
function rightsOf(held: unknown): string {
  if (!Array.isArray(held)) return EMPTY_CELL;
  return scopes.every((scope) => held.includes(scope)) ? 'do everything' : held.join(', ');
}

export const authStatus = command({
  about:
    'Shows which service and which token a command here would use and why, what the token may do, and when it expires. ' +
    'Asks the service.',
  operation: 'tokens.self',
  fields: identityFields,
  examples: [
    ['lkm auth status', 'who am I, and where'],
    ['lkm auth status --json --fields kind,expiresAt', 'for a script'],
  ],

  async run(_, context) {
    const { flags, io } = context;
    const target = await chooseTarget(flags, io);
    const tokenFrom = await sourceOf(target, context);
    const identity = await (await context.client()).tokens.self();
    const place =
      target.kind === 'database'
        ? { service: withoutPassword(target.db), profile: null }
        : { service: target.baseUrl, profile: target.profile?.name ?? null };
    return recordOf({ ...place, tokenFrom, ...identity });
  },
});

/** The source of the token, and a profile that it overrides. */
async function sourceOf(target: Target, { flags, io }: CommandContext): Promise<string> {
  if (target.kind === 'database') return flags.tokenFile ? '--token-file' : 'none: whoever opens a database owns it';
  // The client reads the file later: stdin cannot be read twice.
  const from = flags.tokenFile ? '--token-file' : (await findToken(flags, target, io)).from;
  const { profile } = target;
  const isPassedOver = profile !== null && hasToken(profile) && !from.startsWith(`profile ${profile.name}`);
  return isPassedOver ? `${from}, which goes before profile ${profile.name}` : from;
}

export const authList = command({
  about: 'Lists the profiles: stored tokens, each with its service. The tokens themselves are not shown.',
  fields: [
    'name',
    { name: 'baseUrl', label: 'service', cuts: true },
    { name: 'current', show: yesNo },
    { name: 'db', label: 'database', cuts: true, drops: 1 },
  ],
  examples: [['lkm auth list', 'all of them']],

  async run(_, { io }) {
    const { profiles, currentProfile } = await readConfig(io);
    const rows = Object.entries(profiles).map(([name, { baseUrl, db = null }]) => {
      return { name, baseUrl, current: name === currentProfile, db };
    });
    return listOf(rows, 'no profiles yet; lkm auth login stores one', { name: 'name' });
  },
});

export const authSwitch = command({
  about: 'Makes a profile the current one: the one that commands use when nothing else names a service.',
  arguments: { name: argument('[PROFILE]', 'the profile; asked for on a terminal') },
  fields: ['profile', 'baseUrl'],
  examples: [['lkm auth switch shop', 'commands now use profile shop']],

  async run({ name }, context) {
    const profile = name ?? (await pickProfile(context));
    const stored = await switchProfile(context.io, profile);
    const { baseUrl } = stored;
    return did(profile, { profile, baseUrl }, `profile ${profile} is the current one: ${placeOfService(stored)}`);
  },
});

async function pickProfile({ io, settings }: CommandContext): Promise<string> {
  const names = Object.entries((await readConfig(io)).profiles);
  if (!settings.interactive || names.length === 0) {
    throw new UsageError('which profile? Its name is not given', [['See them:', 'lkm auth list']]);
  }
  const choices = names.map(([value, stored]) => ({ value, name: sanitise(`${value}  ${placeOfService(stored)}`) }));
  return io.prompter(settings).choose('which profile?', choices);
}

export const authLogout = command({
  about:
    'Forgets a profile and its token on this machine. The service goes on accepting the token until it is revoked.',
  arguments: { name: argument('[PROFILE]', 'the profile; by default the current one') },
  fields: ['profile', 'baseUrl'],
  examples: [
    ['lkm auth logout', 'forgets the current profile'],
    ['lkm auth logout shop', 'forgets another profile'],
  ],

  async run({ name }, { flags, io, say }) {
    const chosen = name ?? namedProfile(flags, io) ?? (await readConfig(io)).currentProfile;
    if (chosen === null) throw new UsageError('there is no current profile', [['See them:', 'lkm auth list']]);
    const removed = await removeProfile(io, chosen);
    const { baseUrl, db, keyring } = removed;
    if (keyring !== undefined && !keyringOf(io)?.remove(keyring)) {
      const text = 'the keyring did not let its token go: remove the entry of lkm there by hand';
      await say({ tone: 'warning', text });
    }
    // A running server locks its file.
    const when = isPostgres(db ?? '') ? '' : ', while no server has the file';
    const create = `; a new one${when}: lkm tokens create --kind admin --name NAME --db ${quote(db ?? '')}`;
    const hint = `its token still works until it is revoked${db === undefined ? ': lkm tokens revoke ID' : create}`;
    return did(chosen, { profile: chosen, baseUrl }, `forgot profile ${chosen} of ${placeOfService(removed)}`, hint);
  },
});
