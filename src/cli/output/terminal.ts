import { Chalk, type ChalkInstance } from 'chalk';
import type { Io, Output } from '../io.ts';
import { firstLower, wrap } from './words.ts';

/** What is said on stderr once the result is printed. */
export interface Note {
  readonly tone: 'done' | 'hint' | 'warning';
  readonly text: string;
}

/** Options of a command line that say which service it talks to: their names, and their values as words of a shell. */
export type ServiceOptions = readonly (readonly [name: string, value: string])[];

/** What of the settings decides what is said on stderr, and how. */
interface TalkSettings {
  readonly quiet: boolean;
  readonly format: string;
  readonly color: { readonly stderr: boolean };
  readonly serviceOptions: ServiceOptions;
}

/** Says something on stderr: never with `-q`, and in a JSON format warnings only. */
export async function talk(
  notes: readonly Note[],
  { quiet, format, color: colored, serviceOptions }: TalkSettings,
  io: Pick<Io, 'stderr' | 'env'>,
): Promise<void> {
  const said = notes.filter(({ tone }) => !quiet && (!format.startsWith('json') || tone === 'warning'));
  if (said.length === 0) return;
  const paint = createPaint(colored.stderr);
  const lead = { done: '', hint: '', warning: paint.yellow('warning: ') };
  const color = { done: paint.green, hint: paint.dim, warning: (text: string) => text };
  const lines = said.flatMap(({ tone, text }) =>
    asTyped(text, io.env, serviceOptions)
      .split('\n')
      // A line that is indented is one to be typed, or a row.
      .flatMap((line) => (io.stderr.isTTY && !line.startsWith(' ') ? wrap(line, io.stderr.columns) : [line]))
      .map((line) => `${lead[tone]}${color[tone](sanitise(line))}\n`),
  );
  await io.stderr.write(lines.join(''));
}

/** Says what a change did; of a replayed response, that an earlier request had done it, in words of its own if given. */
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

/** The first words of commands: of those that talk to a service, that work on a database itself, and of the others. */
const ofServices =
  'keys|find|devices|sessions|customers|products|plans|offline|tokens|stats|webhooks|events|audit|signing-keys|revocations|whoami|' +
  'api|jobs|doctor';
const ofDatabases = 'db|idempotency';
const ofOthers = 'quickstart|serve|login|logout|auth|config|completion|explain|commands|version|help';

const anyOf = (...words: readonly string[]): string => `(${words.join('|')})(?![\\w-])`;

/** A command line inside a text: the name, and the first word of a command or an option. */
const commandLine = new RegExp(String.raw`(?<![\w./-])lkm(?= (?:-|${anyOf(ofServices, ofDatabases, ofOthers)}))`, 'g');

/** A command line that is to be typed: the whole text, or its end. */
const serviceLine = new RegExp(`(?<=^|[:;] |see |before )lkm(?= ${anyOf(ofServices, ofDatabases)})`, 'g');

/**
 * A text with the command lines in it as they are typed here: with the options that say which service this command talks
 * to. In a checkout npx may fetch nothing: the name could be that of another package in the registry.
 */
export function asTyped(
  text: string,
  { npm_command: npmCommand, PATH = '' }: Io['env'],
  serviceOptions: ServiceOptions = [],
): string {
  const isThere = (name: string) => text.includes(` ${name}`) || (name === '--profile' && text.includes(' -p '));
  // A line that names a database names no other service.
  const missing = text.includes(' --db ') ? [] : serviceOptions.filter(([name]) => !isThere(name));
  const complete = text.replaceAll(serviceLine, (_, word: string) => {
    const taken = ofDatabases.split('|').includes(word) ? missing.filter(([name]) => name === '--db') : missing;
    return ['lkm', ...taken.flat()].join(' ');
  });
  if (npmCommand !== 'exec') return complete;
  const isFetched = PATH.includes('/_npx/');
  return complete.replaceAll(commandLine, isFetched ? 'npx lkm' : 'npx --no-install lkm');
}

/** Controls, and the characters that reorder or hide what stands beside them. */
const unsafe = /[\p{Cc}\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu;

/** Makes what could move the cursor, colour or reorder text visible: `\u{1b}`. For one line of text. */
export function sanitise(text: string): string {
  return text.replaceAll(unsafe, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

/** The same inside JSON text, as JSON's own escapes: the data stays what it was. */
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
