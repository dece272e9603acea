import { Command as Commander, CommanderError } from 'commander';
import type { Command } from './command.ts';
import { UsageError } from './failure/errors.ts';
import { type GlobalFlags, globalOptions } from './global-options.ts';
import { describeOption, expandHelp, groupHelp, leafHelp } from './help/pages.ts';
import { rootHelp } from './help/root.ts';
import { type HelpView, plainHelp, withoutBrackets } from './help/section.ts';
import type { Io } from './io.ts';
import { groups, type Leaf, leaves } from './tree.ts';

/** What a command line asks for: a text (help, version), or a command to run with what was written for it. */
export type Parsed = { readonly kind: 'text'; readonly text: string } | ParsedCommand;

export interface ParsedCommand {
  readonly kind: 'command';
  readonly command: Command;
  readonly written: Written;
  readonly globals: GlobalFlags;
}

/** The texts of a command line by the names of their specs, not yet parsed. */
export interface Written {
  readonly arguments: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly options: Readonly<Record<string, string | boolean | readonly string[] | undefined>>;
}

/** What commander comes to while it reads. */
interface Reading {
  /** Help or version. */
  text: string;
  /** The words so far: `lkm keys`. */
  path: string;
  chosen: { readonly command: Command; readonly written: Written } | null;
}

/** Reads a command line, without the words for node and script. Throws `UsageError`. */
export async function parseCommandLine(
  argv: readonly string[],
  { version }: Pick<Io, 'version'>,
  view: HelpView = plainHelp,
): Promise<Parsed> {
  const reading: Reading = { text: '', path: 'lkm', chosen: null };
  const root = buildProgram(reading, argv, view).version(version, '-V, --version', 'show the version');
  try {
    await root.parseAsync(expandHelp(argv), { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (!isText(error)) throw toUsageError(error, reading.path);
  } finally {
    refuseToken(root);
  }
  return reading.chosen
    ? { kind: 'command', ...reading.chosen, globals: root.opts() }
    : { kind: 'text', text: reading.text };
}

/** Makes the commands that the words can mean: all resources, and of a resource that is named its own. */
function buildProgram(reading: Reading, words: readonly string[], view: HelpView): Commander {
  const root = newCommander('lkm', '', reading).configureHelp({ formatHelp: () => rootHelp(view) });
  for (const { flags, describe } of globalOptions) root.option(flags, describe);
  root.option('--token <TOKEN>');

  const parents = new Map([['', root]]);
  for (const { name, alias, summary } of groups) {
    const group = newCommander(name, summary, reading).configureHelp({
      formatHelp: (self) => groupHelp(self, view),
    });
    if (alias) group.alias(alias);
    parents.set(name, group);
    root.addCommand(group);
  }
  const leafOf = new Map<Commander, Leaf>();
  for (const leaf of leaves) {
    const [verb = '', group = ''] = leaf.path.split(' ').reverse();
    if (group !== '' && !words.includes(group) && !words.includes(aliasOf(group))) continue;
    const child = newCommander(verb, leaf.summary, reading);
    if (leaf.alias) child.alias(leaf.alias);
    leafOf.set(child, leaf);
    parents.get(group)?.addCommand(child);
  }
  for (const parent of parents.values()) {
    parent.hook('preSubcommand', async (_, child) => {
      reading.path = `${reading.path} ${child.name()}`;
      const command = await leafOf.get(child)?.load();
      if (command) fill(child, command, reading, view);
    });
  }
  return root;
}

const aliasOf = (group: string): string => groups.find(({ name }) => name === group)?.alias ?? group;

function newCommander(name: string, summary: string, reading: Reading): Commander {
  const print = (text: string): void => {
    reading.text += text;
  };
  return new Commander(name)
    .description(summary)
    .exitOverride()
    .helpOption('-h, --help', 'show help')
    .helpCommand(false)
    .configureOutput({ writeOut: print, writeErr: print, outputError: () => {}, getOutHasColors: () => true });
}

/** Gives a command its arguments and options, just before commander reads them. */
function fill(child: Commander, command: Command, reading: Reading, view: HelpView): void {
  for (const { usage, describe } of Object.values(command.arguments)) child.argument(usage, describe);
  const attributes: Record<string, string> = {};
  for (const [name, spec] of Object.entries(command.options)) {
    const option = child.createOption(spec.flags, describeOption(spec));
    if (spec.kind === 'many') option.argParser((text: string, before: readonly string[] = []) => [...before, text]);
    attributes[name] = option.attributeName();
    child.addOption(option);
  }
  child.configureHelp({ formatHelp: (self, helper) => leafHelp(self, helper, command, view) });
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

const isText = ({ code }: CommanderError): boolean =>
  code === 'commander.helpDisplayed' || code === 'commander.help' || code === 'commander.version';

function refuseToken(root: Commander): void {
  if (root.opts().token === undefined) return;
  throw new UsageError('--token is not supported: others on this machine could read it in the process list', [
    ['In scripts:', 'export LKM_TOKEN=…'],
    ['From a file:', '--token-file PATH, or - for stdin'],
  ]);
}

/** Commander writes its suggestion on a line of its own, in brackets. It suggests opposites too: those are left out. */
function toUsageError(error: CommanderError, path: string): UsageError {
  const [, what = error.message, meant] =
    /^(?:error: )?(.*?)(?:\n\(Did you mean (?:one of )?(.*)\?\))?$/s.exec(error.message) ?? [];
  const message = withoutBrackets(what);
  const typed = /'([^']*)'/.exec(what)?.[1] ?? '';
  const near = (meant ?? '').split(', ').filter((word) => word !== '' && isTypoOf(typed, word));
  const question = near.length > 0 ? `. Did you mean ${near.join(' or ')}?` : '';
  return new UsageError(`${message}${question}`, [['See:', `${path} --help`]], { cause: error });
}

/** Whether the word may have been meant: it begins in the same way, and is not the opposite (checkin, checkout). */
function isTypoOf(typed: string, word: string): boolean {
  const stem = (text: string): string => text.replace(/^--/, '').replace(/(in|out)$/, '');
  return stem(typed).at(0) === stem(word).at(0) && stem(typed) !== stem(word);
}
