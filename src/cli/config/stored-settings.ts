import { ProductId } from '../../contract/scalars.ts';
import { describeOption, nameOf } from '../command.ts';
import { type Hint, UsageError } from '../failure/errors.ts';
import { type GlobalFlags, type GlobalOption, globalOptions, readerOf } from '../global-options.ts';
import type { Io } from '../io.ts';
import { quote } from '../output/words.ts';
import { changeConfig, readConfig, type StoredSettings } from './config-file.ts';
import { changeProfile, namedProfile } from './profiles.ts';
import { checkedAs } from './settings.ts';

interface Setting {
  readonly env: string;
  readonly about: string;
  parse(text: string): unknown;
}

export const storable: Readonly<Record<string, Setting>> = {
  product: { env: 'LKM_PRODUCT', about: 'the product', parse: parseProduct },
  ...Object.fromEntries(globalOptions.flatMap(settingFrom)),
};

function settingFrom({ env, ...option }: GlobalOption): [string, Setting][] {
  const parse = readerOf(option);
  return env && parse ? [[nameOf(option).slice(2), { env, about: describeOption(option), parse }]] : [];
}

function parseProduct(text: string): void {
  if (!ProductId.safeParse(text).success) throw new UsageError(`'${text}' is not the id of a product`);
}

/** The value of each setting: from its variable, then the profile, then all profiles. */
export async function effectiveSettings(flags: GlobalFlags, io: Io) {
  const layers = await storedLayers(flags, io);
  return Object.entries(storable).map(([name, { env, about }]) => {
    const layer = layers.find(({ settings }) => settings[name] !== undefined);
    const value = io.env[env] || (layer?.settings[name] ?? null);
    return { name, value, from: io.env[env] ? env : (layer?.from ?? null), about };
  });
}

/** A stored value with its place. */
export interface StoredText {
  readonly text: string;
  readonly where: string;
  readonly hints: readonly Hint[];
}

/** The stored values by the variables of their options. */
export async function storedTexts(flags: GlobalFlags, io: Io): Promise<ReadonlyMap<string, StoredText>> {
  const texts = new Map<string, StoredText>();
  for (const { from, profileFlag, settings } of (await storedLayers(flags, io)).toReversed()) {
    for (const [name, { env }] of Object.entries(storable)) {
      const { [name]: text } = settings;
      const hints: Hint[] = [['Forget it:', `lkm config unset ${name}${profileFlag}`]];
      if (text !== undefined) texts.set(env, { text, where: `${name} of ${from}`, hints });
    }
  }
  return texts;
}

/** The stored settings, highest priority first. A profile counts only where nothing else names the service. */
async function storedLayers(flags: GlobalFlags, io: Io) {
  const config = await readConfig(io);
  const { env } = io;
  const name = namedProfile(flags, io) ?? config.currentProfile;
  const isElsewhere = Boolean(flags.db || flags.baseUrl || (!flags.profile && (env.LKM_DB || env.LKM_BASE_URL)));
  const layer = (from: string, profileFlag: string, settings: StoredSettings = {}) => ({ from, profileFlag, settings });
  const ofAll = layer('config', '', config.settings);
  if (name === null || isElsewhere) return [ofAll];
  return [layer(`profile ${name}`, ` -p ${quote(name)}`, config.profiles[name]?.settings), ofAll];
}

/** Stores a setting, or removes it with null, for one profile or for all. Throws `UsageError` for a wrong value. */
export async function storeSetting(io: Io, name: string, value: string | null, profile?: string): Promise<void> {
  const { parse } = settingOf(name);
  if (value !== null) checkedAs(name, () => parse(value));
  const change = ({ [name]: _, ...others }: StoredSettings = {}): StoredSettings =>
    value === null ? others : { ...others, [name]: value };
  if (profile === undefined) await changeConfig(io, (config) => config.set('settings', change(config.get('settings'))));
  else await changeProfile(io, profile, (stored) => ({ ...stored, settings: change(stored.settings) }));
}

export function settingOf(name: string): Setting {
  const found = Object.hasOwn(storable, name) ? storable[name] : undefined;
  if (found !== undefined) return found;
  throw new UsageError(`there is no setting '${name}'`, [`Settings: ${Object.keys(storable).join(', ')}`]);
}
