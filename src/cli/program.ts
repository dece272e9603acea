import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Command as Commander, CommanderError, type Help } from 'commander';
import {
  type Command,
  type CommandEntry,
  describeOption,
  optionsOf,
  type ParsedCommand,
  type Written,
} from './command.ts';
import { configDir } from './config/files.ts';
import { readSettings } from './config/settings.ts';
import { exitCodes, UsageError } from './failure/errors.ts';
import type { RunState } from './failure/fail.ts';
import { globalOptions } from './global-options.ts';
import type { HelpView } from './help/section.ts';
import type { Io } from './io.ts';
import { print } from './output/write.ts';
import { runCommand } from './run-command.ts';
import { commandEntries, groups } from './tree.ts';

/**
 * Parses the command line, runs its command and resolves to the exit code. Records each step in `state`, by which an
 * error is explained.
 */
export async function runCommandLine(state: RunState): Promise<number> {
  const { argv, io } = state;
  const parsed = await parseCommandLine(argv, io);
  if (parsed.kind === 'text') {
    await print(parsed.text, io);
    return exitCodes.ok;
  }
  state.parsed = parsed;
  state.io = await withStored(parsed, io);
  state.settings = readSettings(parsed.globals, state.io);
  return runCommand(parsed, state.settings, state);
}

/**
 * The surroundings of a command, with what `lkm config set` stored in the place of variables that are not set. Commands
 * on what is stored see it as it is.
 */
async function withStored({ command, globals }: ParsedCommand, io: Io): Promise<Io> {
  if (command.path.startsWith('config ') || !existsSync(join(configDir(io), 'config.json'))) return io;
  const { withStoredSettings } = await import('./config/stored-settings.ts');
  return withStoredSettings(globals, io);
}

/** What a command line asks for: a text (help, version), or a command to run with what was written for it. */
export type Parsed = { readonly kind: 'text'; readonly text: string } | ParsedCommand;

/** What commander has found so far while it parses. */
interface Reading {
  /** Renders the help that was asked for. It runs after parsing, since commander's help hook is synchronous. */
  help: ((view: HelpView) => Promise<string>) | null;
  /** The words so far: `lkm keys`. */
  path: string;
  chosen: { readonly command: Command; readonly written: Written } | null;
}

/** Parses a command line, given without node and the script. Throws `UsageError`. */
export async function parseCommandLine(
  argv: readonly string[],
  io: Pick<Io, 'version' | 'env' | 'stdout'>,
): Promise<Parsed> {
  const reading: Reading = { help: null, path: 'lkm', chosen: null };
  const root = buildProgram(reading, argv);
  try {
    await root.parseAsync(await readHelpWord(argv), { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (!isHelp(error) && !root.opts().version) throw usageError(error, reading);
  } finally {
    refuseToken(root);
  }
  if (root.opts().version) return { kind: 'text', text: versionAlone(reading, io) };
  if (reading.chosen) return { kind: 'command', ...reading.chosen, globals: root.opts() };
  if (reading.help === null) return { kind: 'text', text: '' };
  const { helpView } = await import('./help/section.ts');
  return { kind: 'text', text: await reading.help(helpView(argv, io)) };
}

/** The error for a command line that commander does not take. */
function usageError(error: CommanderError, { path }: Reading): UsageError {
  const message = error.message
    .replace(/^error: /, '')
    // The words too many are left out: one of them may be a licence key.
    .replace(/ but got (\d+): .*/s, ' but got $1')
    // Its suggestion has a line of its own.
    .replace(/\.?\n\((Did you mean .*)\)$/, '. $1')
    .replaceAll(/[<>]/g, '');
  return new UsageError(message, [['See:', `${path} --help`]], { cause: error });
}

/** Throws `UsageError` where a command is named, which would not be run: other things have versions too. */
function versionAlone({ path }: Reading, { version }: Pick<Io, 'version'>): string {
  if (path === 'lkm') return `${version}\n`;
  throw new UsageError('--version shows that of lkm itself, and goes without a command', [['See:', `${path} --help`]]);
}

/** `lkm help keys create` as `lkm keys create --help`. */
async function readHelpWord(argv: readonly string[]): Promise<readonly string[]> {
  if (argv[0] !== 'help') return argv;
  const { expandHelp } = await import('./help/pages.ts');
  return expandHelp(argv);
}

/** Builds the tree for commander. The commands of a group are left out unless the words name the group. */
function buildProgram(reading: Reading, words: readonly string[]): Commander {
  const root = newCommander('lkm', '');
  showHelp(root, reading, async (view) => (await import('./help/pages.ts')).rootHelp(view));
  for (const { flags, describe } of globalOptions) root.option(flags, describe);
  root.option('-V, --version').option('--token <TOKEN>');

  const parents = new Map([['', root]]);
  for (const { name, alias, summary } of groups) {
    const group = newCommander(name, summary);
    showHelp(group, reading, async (view) => (await import('./help/pages.ts')).groupHelp(group, view));
    if (alias) group.alias(alias);
    parents.set(name, group);
    root.addCommand(group);
  }
  const entryOf = new Map<Commander, CommandEntry>();
  for (const entry of commandEntries) {
    const [verb = '', group = ''] = entry.path.split(' ').reverse();
    if (entry.shortcut) {
      const short = newCommander(entry.shortcut, entry.summary);
      entryOf.set(short, entry);
      root.addCommand(short);
    }
    if (group !== '' && !words.includes(group) && !words.includes(aliasOf(group))) continue;
    const child = newCommander(verb, entry.summary);
    if (entry.alias) child.alias(entry.alias);
    entryOf.set(child, entry);
    parents.get(group)?.addCommand(child);
  }
  for (const parent of parents.values()) {
    parent.hook('preSubcommand', async (_, child) => {
      reading.path = `${reading.path} ${child.name()}`;
      const entry = entryOf.get(child);
      if (entry === undefined) return;
      const { compileChecks } = await import('./values/compiled-checks.ts');
      compileChecks(entry.path === 'serve');
      declareParameters(child, await entry.load(), reading);
    });
  }
  return root;
}

const aliasOf = (group: string): string => groups.find(({ name }) => name === group)?.alias ?? group;

function newCommander(name: string, summary: string): Commander {
  const silent = (): void => {};
  return new Commander(name)
    .description(summary)
    .exitOverride()
    .helpOption('-h, --help', 'show help')
    .helpCommand(false)
    .configureOutput({ writeOut: silent, writeErr: silent, outputError: silent, getOutHasColors: () => true });
}

function showHelp(
  commander: Commander,
  reading: Reading,
  render: (view: HelpView, helper: Help) => Promise<string>,
): void {
  const formatHelp = (_: Commander, helper: Help): string => {
    reading.help = (view) => render(view, helper);
    return '';
  };
  commander.configureHelp({ formatHelp });
}

/** Gives a command its arguments and options, just before commander reads them. */
function declareParameters(child: Commander, command: Command, reading: Reading): void {
  // One that is of a list may be missing: `readValues` asks for it, or says what there is.
  for (const { usage, describe, pick, choices } of Object.values(command.arguments)) {
    child.argument(pick === undefined && choices === undefined ? usage : usage.replace(/^<(.*)>$/, '[$1]'), describe);
  }
  const attributes: Record<string, string> = {};
  for (const [name, spec] of Object.entries(optionsOf(command))) {
    const option = child.createOption(spec.flags, describeOption(spec));
    if (spec.kind === 'many') option.argParser((text: string, before: readonly string[] = []) => [...before, text]);
    attributes[name] = option.attributeName();
    child.addOption(option);
  }
  showHelp(child, reading, async (view, helper) =>
    (await import('./help/pages.ts')).commandHelp(child, helper, command, view),
  );
  child.action(() => {
    reading.chosen = { command, written: collect(child, command, attributes) };
  });
}

function collect(child: Commander, command: Command, attributes: Readonly<Record<string, string>>): Written {
  const names = Object.keys(command.arguments);
  const given = child.opts();
  return {
    arguments: Object.fromEntries(names.map((name, at) => [name, child.processedArgs[at]])),
    options: Object.fromEntries(Object.entries(attributes).map(([name, attribute]) => [name, given[attribute]])),
  };
}

const isHelp = ({ code }: CommanderError): boolean => code === 'commander.helpDisplayed' || code === 'commander.help';

function refuseToken(root: Commander): void {
  if (root.opts().token === undefined) return;
  throw new UsageError('--token is not supported: others on this machine could read it in the process list', [
    ['In scripts:', 'export LKM_TOKEN=…'],
    ['From a file:', '--token-file PATH, or - for stdin'],
  ]);
}
