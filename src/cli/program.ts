import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Command as Commander, CommanderError } from 'commander';
import type { Command, CommandEntry, ParsedCommand, Written } from './command.ts';
import { findConfigDir } from './config/files.ts';
import { readSettings } from './config/settings.ts';
import { exitCodes, UsageError } from './failure/errors.ts';
import type { RunState } from './failure/fail.ts';
import { globalOptions } from './global-options.ts';
import type { Io } from './io.ts';
import { print } from './output/standard-output.ts';
import { runCommand } from './run-command.ts';
import { commandEntries, groups } from './tree.ts';

/** Runs a command line and resolves to the exit code. Records each step in `state`, by which an error is explained. */
export async function runCommandLine(state: RunState): Promise<number> {
  const { argv, io } = state;
  const parsed = await parseCommandLine(argv, io);
  if (parsed.kind === 'text') {
    await print(parsed.text, io);
    return exitCodes.ok;
  }
  state.parsed = parsed;
  state.io = await withSettingsFor(parsed, withAllowance(parsed, io));
  state.settings = readSettings(parsed.globals, state.io);
  return runCommand(parsed, state.settings, state);
}

/** `io` with the permission of the flag as its variable, which is read where a secret is. */
function withAllowance({ globals }: ParsedCommand, io: Io): Io {
  if (globals.allowReadableSecrets !== true) return io;
  return Object.create(io, { env: { value: { ...io.env, LKM_ALLOW_READABLE_SECRETS: 'on' } } });
}

/** `io` with the stored settings as variables, where these are not set; without them for `lkm config` itself. */
async function withSettingsFor({ command, globals }: ParsedCommand, io: Io): Promise<Io> {
  const folder = findConfigDir(io);
  if (command.path.startsWith('config ') || folder === null || !existsSync(join(folder, 'config.json'))) return io;
  const { withStoredSettings } = await import('./config/stored-settings.ts');
  return withStoredSettings(globals, io);
}

/** What a command line asks for: a text (help, version), or a command to run with what was written for it. */
export type Parsed = { readonly kind: 'text'; readonly text: string } | ParsedCommand;

/** What commander has found so far while it parses. */
interface Reading {
  path: string;
  command: Command | null;
  /** What was written for it; null where its help is asked for. */
  written: Written | null;
}

/** Parses a command line, given without node and the script. Throws `UsageError`. */
export async function parseCommandLine(
  argv: readonly string[],
  io: Pick<Io, 'version' | 'env' | 'stdout'>,
): Promise<Parsed> {
  const reading: Reading = { path: 'lkm', command: null, written: null };
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
  const { path, command, written } = reading;
  if (command && written) return { kind: 'command', command, written, globals: root.opts() };
  const [{ helpPage }, { helpView }] = await Promise.all([import('./help/pages.ts'), import('./help/section.ts')]);
  return { kind: 'text', text: helpPage(path, command, helpView(argv, io)) };
}

function usageError(error: CommanderError, { path }: Reading): UsageError {
  const message = error.message
    .replace(/^error: /, '')
    // The surplus words are left out: one of them may be a licence key.
    .replace(/ but got (\d+): .*/s, ' but got $1')
    // Its suggestion has a line of its own.
    .replace(/\.?\n\((Did you mean .*)\)$/, '. $1')
    .replaceAll(/[<>]/g, '');
  return new UsageError(message, [['See:', `${path} --help`]], { cause: error });
}

/** Throws `UsageError` where a command is named too: it would not be run. */
function versionAlone({ path }: Reading, { version }: Pick<Io, 'version'>): string {
  if (path === 'lkm') return `${version}\n`;
  throw new UsageError('--version shows that of lkm itself, and goes without a command', [['See:', `${path} --help`]]);
}

async function readHelpWord(argv: readonly string[]): Promise<readonly string[]> {
  if (argv[0] !== 'help') return argv;
  const { expandHelp } = await import('./help/pages.ts');
  return expandHelp(argv);
}

/** Builds the tree for commander. The commands of a group are left out unless the words name the group. */
function buildProgram(reading: Reading, words: readonly string[]): Commander {
  const root = newCommander('lkm').option('-V, --version').option('--token <TOKEN>');
  for (const { flags } of globalOptions) root.option(flags);
  const entryOf = new Map<Commander, CommandEntry>();
  const parents = new Map([['', root]]);
  const add = (parent: Commander | undefined, name: string, entry: CommandEntry): Commander => {
    const child = newCommander(name);
    entryOf.set(child, entry);
    parent?.addCommand(child);
    return child;
  };
  for (const { name, alias } of groups) {
    const group = newCommander(name).aliases(alias ? [alias] : []);
    root.addCommand(group);
    if ([name, ...group.aliases()].some((word) => words.includes(word))) parents.set(name, group);
  }
  for (const entry of commandEntries) {
    const [verb = '', group = ''] = entry.path.split(' ').reverse();
    if (entry.shortcut) add(root, entry.shortcut, entry);
    if (parents.has(group)) add(parents.get(group), verb, entry).aliases(entry.alias ? [entry.alias] : []);
  }
  for (const parent of parents.values()) {
    parent.hook('preSubcommand', async (_, child) => {
      reading.path = `${reading.path} ${child.name()}`;
      const entry = entryOf.get(child);
      if (entry === undefined) return;
      // Compiling the checks takes longer than those of one command; the contract asks once, when it is loaded.
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

/** Gives a command its arguments and options, just before commander reads them. */
function declareParameters(child: Commander, command: Command, reading: Reading): void {
  // An argument that can be picked, or has choices, may be missing: `readValues` asks for it, or lists the choices.
  for (const { usage, pick, choices } of Object.values(command.arguments)) {
    child.argument(pick === undefined && choices === undefined ? usage : usage.replace(/^<(.*)>$/, '[$1]'));
  }
  const attributes = Object.entries(command.options).map(([name, { flags, kind }]) => {
    const option = child.createOption(flags);
    if (kind === 'many') option.argParser((text: string, before: readonly string[] = []) => [...before, text]);
    child.addOption(option);
    return [name, option.attributeName()] as const;
  });
  reading.command = command;
  child.action(() => {
    const given = child.opts();
    const names = Object.keys(command.arguments);
    reading.written = {
      arguments: Object.fromEntries(names.map((name, at) => [name, child.processedArgs[at]])),
      options: Object.fromEntries(attributes.map(([name, attribute]) => [name, given[attribute]])),
    };
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
