import { Chalk, type ChalkInstance } from 'chalk';
import type { Io, Output } from '../io.ts';
import { firstLower, foldLine, wrap } from './words.ts';

/** A message on stderr. */
export interface Note {
  readonly tone: 'done' | 'hint' | 'warning';
  readonly text: string;
}

/** Options that name the service, with values quoted for a shell. */
export type ServiceOptions = readonly (readonly [name: string, value: string])[];

interface TalkSettings {
  readonly quiet: boolean;
  readonly format: string;
  readonly color: { readonly stderr: boolean };
  readonly serviceOptions: ServiceOptions;
}

/** Prints messages on stderr: none with `-q`, only warnings in a JSON format. */
export async function talk(
  notes: readonly Note[],
  { quiet, format, color: colored, serviceOptions }: TalkSettings,
  io: Pick<Io, 'stderr' | 'env'>,
): Promise<void> {
  const said = notes.filter(({ tone }) => !quiet && (!format.startsWith('json') || tone === 'warning'));
  if (said.length === 0) return;
  const paint = createPaint(colored.stderr);
  const color = {
    done: paint.green,
    hint: paint.dim,
    warning: (text: string) => text.replace(lead, (word) => paint.yellow(word)),
  };
  const { isTTY, columns } = io.stderr;
  const fitted = (lead: string, line: string): string[] => {
    if (!isTTY) return [`${lead}${line}`];
    // Indented lines are commands or rows, to be copied from a terminal.
    return line.startsWith(' ') ? foldLine(line, columns) : wrap(`${lead}${line}`, columns);
  };
  const lines = said.flatMap(({ tone, text }) =>
    asTyped(text, io.env, serviceOptions)
      .split('\n')
      .flatMap((line) => fitted(tone === 'warning' ? 'warning: ' : '', line))
      .map((line) => `${color[tone](sanitise(line))}\n`),
  );
  await io.stderr.write(lines.join(''));
}

const lead = /^warning: /;

/** Reports a change; for a replayed response, that an earlier request made it. */
export function doneNote(
  { replayed }: { readonly replayed: boolean },
  text: string,
  already: string = `already ${text}`,
): Note {
  return { tone: 'done', text: replayed ? `${already}\n${replayedText}` : text };
}

export const warningNotes = ({ warning }: { readonly warning?: string | undefined }): Note[] =>
  warning === undefined ? [] : [{ tone: 'warning', text: firstLower(warning) }];

const replayedText =
  'an earlier request with this idempotency key did it; this is its answer again, and the service changed nothing now';

/** First words of commands that use a service, that work on a database itself, and of other commands. */
const ofServices =
  'keys|find|devices|sessions|customers|products|plans|offline|tokens|stats|webhooks|events|audit|signing-keys|revocations|whoami|' +
  'api|doctor';
const ofDatabases = 'db';
const ofOthers = 'quickstart|serve|login|logout|auth|config|completion|explain|commands|version|help';

const anyOf = (...words: readonly string[]): string => `(${words.join('|')})(?![\\w-])`;

/** `lkm` before the first word of a command, or before an option. */
const commandLine = new RegExp(String.raw`(?<![\w./-])lkm(?= (?:-|${anyOf(ofServices, ofDatabases, ofOthers)}))`, 'g');

/** `lkm` at the start of a command line to type. */
const serviceLine = new RegExp(`(?<=^|[:;] |see |before )lkm(?= ${anyOf(ofServices, ofDatabases)})`, 'g');

/**
 * Completes the command lines in a text with the options that name the service. In a checkout npx must not fetch a package
 * of that name from the registry.
 */
export function asTyped(
  text: string,
  { npm_command: npmCommand, PATH = '' }: Io['env'],
  serviceOptions: ServiceOptions = [],
): string {
  const isThere = (name: string) => text.includes(` ${name}`) || (name === '--profile' && text.includes(' -p '));
  // A line with `--db` names no other service.
  const missing = text.includes(' --db ') ? [] : serviceOptions.filter(([name]) => !isThere(name));
  const complete = text.replaceAll(serviceLine, (_, word: string) => {
    const taken = word === ofDatabases ? missing.filter(([name]) => name === '--db') : missing;
    return ['lkm', ...taken.flat()].join(' ');
  });
  if (npmCommand !== 'exec') return complete;
  const isFetched = PATH.includes('/_npx/');
  return complete.replaceAll(commandLine, isFetched ? 'npx lkm' : 'npx --no-install lkm');
}

/** Control characters, and characters that reorder or hide text. */
const unsafe = /[\p{Cc}\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu;

/** Shows characters that could move the cursor, colour or reorder text as `\u{1b}`. For a line of text. */
export function sanitise(text: string): string {
  return text.replaceAll(unsafe, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

/** Escapes unsafe characters in JSON text without changing its value. */
export function sanitiseJson(json: string): string {
  return json.replaceAll(unsafe, (character) =>
    character === '\n' ? character : [...units(character)].map((unit) => `\\u${unit}`).join(''),
  );
}

function* units(text: string): Generator<string> {
  for (let at = 0; at < text.length; at++) yield text.charCodeAt(at).toString(16).padStart(4, '0');
}

export type Paint = Pick<ChalkInstance, 'dim' | 'bold' | 'green' | 'red' | 'yellow' | 'cyan'>;

export const createPaint = (enabled: boolean): Paint => new Chalk({ level: enabled ? 1 : 0 });

export const plain: Paint = createPaint(false);

export function takesColor(env: Io['env'], { isTTY }: Pick<Output, 'isTTY'>): boolean {
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR && env.FORCE_COLOR !== '0') return true;
  return isTTY && env.TERM !== 'dumb';
}
