import { ProductId } from '../../contract/scalars.ts';
import { type Hint, UsageError } from '../failure/errors.ts';
import type { GlobalFlags } from '../global-options.ts';
import type { Io } from '../io.ts';
import { quote } from '../output/words.ts';
import { parseDuration } from '../values/duration.ts';
import { parseCount } from '../values/scalars.ts';
import { changeConfig, namedProfile, readConfig, type StoredSettings, unknownProfile } from './profiles.ts';
import { formats, parseSwitch, parseTimeout } from './settings.ts';

/** An option that can be stored: its variable, what it is, and what refuses a value that it cannot have. */
interface Storable {
  readonly env: string;
  readonly about: string;
  check(value: string): unknown;
}

/** Every option that can be stored, by its name. */
export const storable: Readonly<Record<string, Storable>> = {
  product: { env: 'LKM_PRODUCT', about: 'the product', check: checkProduct },
  format: { env: 'LKM_FORMAT', about: formats.join(', '), check: checkFormat },
  timeout: { env: 'LKM_TIMEOUT', about: 'longest wait for one attempt', check: parseTimeout },
  'max-retries': { env: 'LKM_MAX_RETRIES', about: 'attempts after the first', check: parseCount },
  'max-wait': { env: 'LKM_MAX_WAIT', about: 'longest wait on one 429 or 409', check: parseDuration },
  quiet: { env: 'LKM_QUIET', about: 'print bare identifiers: on or off', check: checkSwitch },
  'no-progress': { env: 'LKM_NO_PROGRESS', about: 'show nothing that moves: on or off', check: checkSwitch },
  'no-input': { env: 'LKM_NO_INPUT', about: 'never ask: on or off', check: checkSwitch },
};

function checkProduct(value: string): void {
  if (!ProductId.safeParse(value).success) throw new UsageError(`'${value}' is not the id of a product`);
}

function checkFormat(value: string): void {
  if (!formats.some((format) => format === value)) throw new UsageError(`it is one of ${formats.join(', ')}`);
}

function checkSwitch(value: string): void {
  parseSwitch(value, 'it');
}

/** A setting with the value that a command would use, and where that comes from; null when nobody has set it. */
export interface EffectiveSetting {
  readonly name: string;
  readonly value: string | null;
  readonly from: string | null;
}

/** What each setting is for a command with these flags: its variable, then the profile, then what is stored for all. */
export const effectiveSettings = (flags: GlobalFlags, io: Io): EffectiveSetting[] =>
  settingsInForce(flags, io).map(({ name, value, source }) => ({ name, value, from: source && describe(source) }));

/** Where a value comes from. */
type Source =
  | { readonly kind: 'variable'; readonly name: string }
  | { readonly kind: 'profile'; readonly name: string }
  | { readonly kind: 'config' };

const describe = (source: Source): string =>
  source.kind === 'variable' ? source.name : source.kind === 'profile' ? `profile ${source.name}` : 'config';

interface SettingInForce {
  readonly name: string;
  readonly value: string | null;
  readonly source: Source | null;
}

function settingsInForce(flags: GlobalFlags, io: Io): SettingInForce[] {
  const layers = storedLayers(flags, io);
  return Object.entries(storable).map(([name, { env }]) => {
    if (io.env[env]) return { name, value: io.env[env], source: { kind: 'variable', name: env } };
    const layer = layers.find(({ settings }) => settings[name] !== undefined);
    return { name, value: layer?.settings[name] ?? null, source: layer?.source ?? null };
  });
}

/**
 * The surroundings of a command, with the stored settings in the place of variables that are not set. Throws `UsageError`
 * for a stored value that the setting cannot have: written by hand, or by another version.
 */
export function withStoredSettings(flags: GlobalFlags, io: Io): Io {
  const env = { ...io.env };
  for (const { name, value, source } of settingsInForce(flags, io)) {
    const known = settingOf(name);
    if (value === null || source === null || source.kind === 'variable') continue;
    const inProfile = source.kind === 'profile' ? ` -p ${quote(source.name)}` : '';
    checkValue(`${name} of ${describe(source)}`, () => known.check(value), [
      ['Forget it:', `lkm config unset ${name}${inProfile}`],
    ]);
    env[known.env] = value;
  }
  // Not a copy: some members are made when they are first read.
  return Object.create(io, { env: { value: env } });
}

/** Runs a check. Throws its `UsageError` with what is checked in front, and with more hints. */
function checkValue(what: string, check: () => unknown, hints: readonly Hint[] = []): void {
  try {
    check();
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(`${what}: ${error.message}`, [...error.hints, ...hints], { cause: error });
  }
}

/** What is stored, the first to count first. A profile counts only where nothing else names the service. */
function storedLayers(flags: GlobalFlags, io: Io): { source: Source; settings: StoredSettings }[] {
  const config = readConfig(io);
  const { env } = io;
  const name = namedProfile(flags, io) ?? config.currentProfile;
  const isElsewhere = Boolean(flags.db || flags.baseUrl || (!flags.profile && (env.LKM_DB || env.LKM_BASE_URL)));
  const profile = name === null || isElsewhere ? undefined : config.profiles[name];
  return [
    ...(profile?.settings && name !== null
      ? [{ source: { kind: 'profile', name } as const, settings: profile.settings }]
      : []),
    ...(config.settings ? [{ source: { kind: 'config' } as const, settings: config.settings }] : []),
  ];
}

/**
 * Stores a setting, or with null forgets it: for one profile, or for all commands. Throws `UsageError` for a name that
 * is none, and for a value that it cannot have.
 */
export function storeSetting(
  io: Io,
  { name, value, profile }: { readonly name: string; readonly value: string | null; readonly profile?: string },
): void {
  const known = settingOf(name);
  if (value !== null) checkValue(name, () => known.check(value));
  changeConfig(io, (config) => {
    const change = ({ [name]: _, ...rest }: StoredSettings = {}): StoredSettings =>
      value === null ? rest : { ...rest, [name]: value };
    if (profile === undefined) return { config: { ...config, settings: change(config.settings) }, value: undefined };
    const stored = config.profiles[profile];
    if (stored === undefined) throw unknownProfile(profile, config);
    const profiles = { ...config.profiles, [profile]: { ...stored, settings: change(stored.settings) } };
    return { config: { ...config, profiles }, value: undefined };
  });
}

/** The setting of a name. Throws `UsageError` when there is none. */
export function settingOf(name: string): Storable {
  const found = Object.hasOwn(storable, name) ? storable[name] : undefined;
  if (found !== undefined) return found;
  throw new UsageError(`there is no setting '${name}'`, [`Settings: ${Object.keys(storable).join(', ')}`]);
}
