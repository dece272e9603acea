import { isProductName } from '../../contract/limits.ts';
import { argument, command } from '../command.ts';
import { configFile } from '../config/config-file.ts';
import { effectiveSettings, settingOf, storable, storeSetting } from '../config/stored-settings.ts';
import type { CommandContext } from '../context.ts';
import { NotFoundError } from '../failure/errors.ts';
import type { CommandResult } from '../output/result.ts';
import { EMPTY_CELL } from '../output/words.ts';
import { findProduct } from '../request/look-ups.ts';
import { did, listOf, singleValue } from './results.ts';

const nameArgument = argument('<SETTING>', `the setting: ${Object.keys(storable).join(', ')}`);

export const configList = command({
  about:
    'Lists the settings: values of options that need not be typed each time, and where each comes from. A flag goes ' +
    'before its variable, that before the profile, that before what is set for all profiles.',
  fields: [
    'name',
    { name: 'value', show: (value) => (value === null ? EMPTY_CELL : String(value)) },
    { name: 'from', show: (from) => (from === null ? 'not set' : String(from)) },
    { name: 'about', cuts: true, drops: 1 },
  ],
  examples: [['lkm config list', 'all of them']],

  async run(_, { flags, io }) {
    return listOf(await effectiveSettings(flags, io), 'no settings', { name: 'name' });
  },
});

export const configGet = command({
  about: 'Prints the value that a command would use. Ends with 6 when the setting is not set.',
  arguments: { name: nameArgument },
  fields: ['name', 'value', 'from'],
  examples: [['lkm config get product', 'the product of commands that name none']],

  async run({ name }, { flags, io }) {
    settingOf(name);
    const { value = null, from } = (await effectiveSettings(flags, io)).find((one) => one.name === name) ?? {};
    if (value !== null) return singleValue(value, { name, value, from });
    throw new NotFoundError(`${name} is not set`, [['Set it:', `lkm config set ${name} VALUE`]]);
  },
});

export const configSet = command({
  about: 'Stores the value of an option: for all commands, or with --profile for those of one profile.',
  arguments: { name: nameArgument, value: argument('<VALUE>', 'its value') },
  fields: ['name', 'value', 'profile'],
  examples: [
    ['lkm config set format json', 'for all commands'],
    ['lkm config set product "Engine Pro" -p shop', 'for commands with profile shop; its id is stored'],
  ],
  async run({ name, value }, context) {
    const isNamed = name === 'product' && isProductName(value);
    return store(name, isNamed ? await findProduct(await context.client(), value) : value, context);
  },
});

export const configUnset = command({
  about: 'Forgets the stored value of an option: the one for all commands, or with --profile that of one profile.',
  arguments: { name: nameArgument },
  fields: ['name', 'profile'],
  examples: [['lkm config unset format', 'commands choose their format again']],
  run: ({ name }, context) => store(name, null, context),
});

async function store(
  name: string,
  value: string | null,
  { flags: { profile }, io }: CommandContext,
): Promise<CommandResult> {
  await storeSetting(io, name, value, profile);
  const is = value === null ? 'is no longer set' : `is ${value}`;
  const data = { name, ...(value !== null && { value }), profile: profile ?? null };
  return did(name, data, `${name} ${is}${profile === undefined ? '' : ` for profile ${profile}`}`);
}

export const configPath = command({
  about: 'Prints the path of the file that holds profiles and settings. It may not exist yet.',
  fields: ['path'],
  examples: [['lkm config path', 'where it is']],

  async run(_, { io }) {
    const path = configFile(io);
    return singleValue(path, { path });
  },
});
