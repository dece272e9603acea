import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Command as Commander, CommanderError, Option } from 'commander';
import {
  type Command,
  type CommandEntry,
  nameOf,
  type Parameter,
  type ParsedCommand,
  type Written,
} from './command.ts';
import { findConfigDir } from './config/files.ts';
import { checkedAs, readSettings } from './config/settings.ts';
import type { StoredText } from './config/stored-settings.ts';
import { exitCodes, UsageError } from './failure/errors.ts';
import { type GlobalOption, globalOptions, readerOf } from './global-options.ts';
import type { Io } from './io.ts';
import { print } from './output/standard-output.ts';
import { runCommand } from './run-command.ts';
import type { RunState } from './run-state.ts';
import { commandEntries, groups } from './tree.ts';
import { parseChoice, parseSwitch } from './values/scalars.ts';
import { explainWords, plainWords } from './wrong-words.ts';

/** Runs a command line and resolves to the exit code. Records each step in `state`, for the explanation of an error. */
export async function runCommandLine(state: RunState): Promise<number> {
  const { argv, io } = state;
  const parsed = await parseCommandLine(argv, io);
  if (parsed.kind === 'text') {
    await print(parsed.text, io);
    return exitCodes.ok;
  }
  state.parsed = parsed;
  state.settings = readSettings(parsed.globals, io);
  return runCommand(parsed, state.settings, state);
}

/** Either a text (help, version), or a command with its words. */
export type Parsed = { readonly kind: 'text'; readonly text: string } | ParsedCommand;

interface Reading {
  path: string;
  command: Command | null;
  /** The parsed command; null where its help is asked for. */
  parsed: Commander | null;
}

export async function parseCommandLine(typed: readonly string[], io: Io): Promise<Parsed> {
  const argv = plainWords(typed);
  const reading: Reading = { path: 'lkm', command: null, parsed: null };
  const root = buildProgram(reading, argv);
  try {
    await root.parseAsync(await readHelpWord(argv), { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (!isHelp(error) && !root.opts().version) throw explainWords(error, reading.path, reading.command);
  } finally {
    refuseToken(root);
  }
  if (root.opts().version) return { kind: 'text', text: versionAlone(reading, io) };
  const { path, command, parsed } = reading;
  if (command && parsed) {
    await fillOptions([root, parsed], command, io);
    return { kind: 'command', command, written: writtenFor(command, parsed), globals: root.opts() };
  }
  const [{ helpPage }, { helpView }] = await Promise.all([import('./help/pages.ts'), import('./help/section.ts')]);
  return { kind: 'text', text: await helpPage(path, command, helpView(argv, io)) };
}

/** Sets options that were not typed from their variables, then from the stored settings. Throws `UsageError`. */
async function fillOptions(commanders: readonly Commander[], { path }: Command, io: Io): Promise<void> {
  const fill = (source: 'env' | 'config', find: (variable: string) => StoredText | undefined): void => {
    for (const commander of commanders) {
      for (const option of commander.options) {
        const name = option.attributeName();
        const isOpen = ['default', undefined].includes(commander.getOptionValueSource(name));
        const given = isOpen && option instanceof ReadOption && option.variable ? find(option.variable) : undefined;
        if (given === undefined || !(option instanceof ReadOption)) continue;
        const { text, where, hints } = given;
        commander.setOptionValueWithSource(
          name,
          checkedAs(where, () => option.read(text), hints),
          source,
        );
      }
    }
  };
  fill('env', (name) => (io.env[name] ? { text: io.env[name], where: name, hints: [] } : undefined));
  const folder = findConfigDir(io);
  if (path.startsWith('config ') || folder === null || !existsSync(join(folder, 'config.json'))) return;
  const { storedTexts } = await import('./config/stored-settings.ts');
  const stored = await storedTexts(commanders[0]?.opts() ?? {}, io);
  fill('config', (name) => stored.get(name));
}

function writtenFor({ arguments: positional, options }: Command, parsed: Commander): Written {
  const given = parsed.opts();
  const attributes = Object.entries(options).map(([name, { usage }]) => [name, attributeOf(usage)] as const);
  return {
    arguments: Object.fromEntries(Object.keys(positional).map((name, at) => [name, parsed.processedArgs[at]])),
    options: Object.fromEntries(attributes.map(([name, attribute]) => [name, given[attribute]])),
    fromEnvironment: attributes.flatMap(([name, attribute]) =>
      ['env', 'config'].includes(parsed.getOptionValueSource(attribute) ?? '') ? [name] : [],
    ),
  };
}

const attributeOf = (usage: string): string => new Option(usage).attributeName();

/** Throws `UsageError` where a command is named too, since it would not run. */
function versionAlone({ path }: Reading, { version }: Pick<Io, 'version'>): string {
  if (path === 'lkm') return `${version}\n`;
  throw new UsageError('--version shows the version of lkm itself: leave the command out', [
    ['See:', `${path} --help`],
  ]);
}

async function readHelpWord(argv: readonly string[]): Promise<readonly string[]> {
  if (argv[0] !== 'help') return argv;
  const { expandHelp } = await import('./help/pages.ts');
  return expandHelp(argv);
}

/** Builds the commands for commander; commands of a group only if the words name the group. */
function buildProgram(reading: Reading, words: readonly string[]): Commander {
  const root = newCommander('lkm').option('-V, --version').option('--token <TOKEN>');
  for (const spec of globalOptions) root.addOption(globalOption(spec));
  const entryOf = new Map<Commander, CommandEntry>();
  const parents = new Map([['', root]]);
  const add = (parent: Commander | undefined, name: string, entry: CommandEntry): Commander => {
    const child = newCommander(name);
    entryOf.set(child, entry);
    parent?.addCommand(child);
    return child;
  };
  for (const { name, alias, synonyms = [] } of groups) {
    const group = newCommander(name).aliases([...(alias ? [alias] : []), ...synonyms]);
    root.addCommand(group);
    if ([name, ...group.aliases()].some((word) => words.includes(word))) parents.set(name, group);
  }
  for (const entry of commandEntries) {
    const [verb = '', group = ''] = entry.path.split(' ').reverse();
    if (entry.shortcut) add(root, entry.shortcut, entry);
    if (parents.has(group))
      add(parents.get(group), verb, entry).aliases([...(entry.alias ? [entry.alias] : []), ...entry.synonyms]);
  }
  for (const parent of parents.values()) {
    parent.hook('preSubcommand', async (_, child) => {
      reading.path = `${reading.path} ${child.name()}`;
      const entry = entryOf.get(child);
      if (entry === undefined) return;
      // Zod compiles checks when the contract is loaded; for one command that takes longer than it saves.
      const { z } = await import('zod');
      z.config({ jitless: entry.path !== 'serve' });
      declareParameters(child, await entry.load(), reading);
    });
  }
  return root;
}

function newCommander(name: string): Commander {
  const silent = (): void => {};
  return new Commander(name)
    .exitOverride()
    .helpCommand(false)
    .configureHelp({ formatHelp: () => '' })
    .configureOutput({ writeOut: silent, writeErr: silent, outputError: silent });
}

/** An option whose text is checked where it is found: on the command line, in its variable, in the configuration. */
class ReadOption extends Option {
  readonly read: (text: string, before?: unknown) => unknown;
  /** Read by `fillOptions`; commander would read it before `--json` implies a format. */
  readonly variable: string | undefined;

  constructor(usage: string, read: ReadOption['read'], variable?: string) {
    super(usage);
    this.read = read;
    this.variable = variable;
    this.argParser((text: string | undefined, before?: unknown) =>
      text === undefined ? undefined : checkedAs(nameOf({ usage }), () => read(text, before)),
    );
  }
}

function globalOption(option: GlobalOption): Option {
  const { usage, env } = option;
  if (/^--(json|jq)/.test(usage)) return new Option(usage).implies({ format: 'json' });
  const read = readerOf(option);
  return read ? new ReadOption(usage, read, env) : new Option(usage);
}

function commandOption({ usage, kind, env, choices, takesList }: Parameter): Option {
  const choose = (text: string): string => (choices ? parseChoice(text.trim(), choices) : text);
  switch (kind) {
    case 'switch':
      return new Option(usage);
    case 'negation':
      return new ReadOption(usage, parseSwitch, env);
    case 'many':
      return new ReadOption(usage, (text, before) => [
        ...(Array.isArray(before) ? before : []),
        ...(takesList ? text.split(',') : [text]).map(choose),
      ]);
    default:
      // A value that may be left out is then `true`.
      return new ReadOption(usage, choose, env).preset('true');
  }
}

/** Declares arguments and options just before commander reads them. */
function declareParameters(child: Commander, command: Command, reading: Reading): void {
  // `readValues` asks for a missing argument that can be picked, or lists its choices.
  for (const { usage, pick, choices } of Object.values(command.arguments)) {
    child.argument(pick === undefined && choices === undefined ? usage : usage.replace(/^<(.*)>$/, '[$1]'));
  }
  for (const spec of Object.values(command.options)) {
    child.addOption(commandOption(spec).conflicts(spec.conflicts ?? []));
  }
  reading.command = command;
  child.action(() => {
    reading.parsed = child;
  });
}
const isHelp = ({ code }: CommanderError): boolean => code === 'commander.helpDisplayed' || code === 'commander.help';

function refuseToken(root: Commander): void {
  if (root.opts().token === undefined) return;
  throw new UsageError('--token is not supported: others on this machine could read it in the process list', [
    ['In scripts:', 'export LKM_TOKEN=…'],
    ['From a file:', '--token-file PATH, or - for stdin'],
  ]);
}
