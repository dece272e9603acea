import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Command, type CommandEntry, describeOption } from '../src/cli/command.ts';
import { exitCodes } from '../src/cli/failure/errors.ts';
import { globalOptions } from '../src/cli/global-options.ts';
import { withoutBrackets } from '../src/cli/help/section.ts';
import { meanings, topics } from '../src/cli/help/topics.ts';
import { commandEntries, groups } from '../src/cli/tree.ts';
import { apiVersion } from '../src/contract/index.ts';

/** Makes the manual pages of all commands and topics: the file of each, `lkm-keys-create.1`, and its text for `man`. */
export async function manPages(version: string) {
  const commands = await Promise.all(commandEntries.map(async (one) => commandPage(one, await one.load(), version)));
  return [rootPage(version), ...commands, ...Object.keys(topics).map((name) => topicPage(name, version))];
}

/** Writes the manual pages into a folder. */
export async function writeManPages(folder: string, version: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  for (const { file, text } of await manPages(version)) writeFileSync(join(folder, file), text);
}

const pageOf = (path: string): string => `lkm-${path.replaceAll(' ', '-')}`;

function rootPage(version: string) {
  const commands = commandEntries.map((one) => entry(`lkm ${one.path}`, `${one.summary}; see ${pageOf(one.path)}(1).`));
  return page('lkm', '1', version, 'licence keys: issue, inspect, sign and free them', [
    ['SYNOPSIS', `.B lkm\n.I COMMAND\n[options]\n`],
    [
      'DESCRIPTION',
      paragraph(
        'lkm issues licence keys for software and keeps track of them: which devices use a key, which customer it belongs to, when it expires. It is the command, and the server behind it.',
        `Groups of commands: ${groups.map(({ name }) => name).join(', ')}.`,
      ),
    ],
    ['COMMANDS', commands.join('')],
    ['OPTIONS OF EVERY COMMAND', globalOptions.map((option) => entry(option.usage, describeOption(option))).join('')],
    [
      'EXIT STATUS',
      Object.entries(meanings)
        .map(([name, meaning]) => entry(codeOf(name), meaning))
        .join(''),
    ],
    ['SEE ALSO', seeAlso(Object.keys(topics).map((name) => `${pageOf(name)}(7)`))],
  ]);
}

function commandPage({ path, alias, shortcut, summary }: CommandEntry, command: Command, version: string) {
  const positional = Object.values(command.arguments);
  const options = Object.values(command.options);
  const names = positional.map(({ usage }) => withoutBrackets(usage));
  const also = [...(alias ? [`lkm ${path.replace(/\S+$/, alias)}`] : []), ...(shortcut ? [`lkm ${shortcut}`] : [])];
  const group = `${path.split(' ')[0]} `;
  const neighbours = commandEntries.filter((one) => one.path !== path && one.path.startsWith(group));
  const related = ['lkm', ...neighbours.map((one) => pageOf(one.path))].map((name) => `${name}(1)`);
  const fields = (command.fields ?? []).map(({ name }) => name);
  return page(pageOf(path), '1', version, summary, [
    ['SYNOPSIS', `.B lkm ${asRoff(path)}\n${names.map((name) => `.I ${asRoff(name)}\n`).join('')}[options]\n`],
    ['DESCRIPTION', paragraph(command.about, ...(also.length > 0 ? [`Also: ${also.join(', ')}.`] : []))],
    ['ARGUMENTS', positional.map(({ usage, describe }) => entry(usage, describe)).join('')],
    ['OPTIONS', options.map((option) => entry(option.usage, describeOption(option))).join('')],
    ['FIELDS', fields.length > 0 ? paragraph(`For --fields (JSON is then flat): ${fields.join(', ')}.`) : ''],
    ['EXAMPLES', command.examples.map(([line, does]) => example(line, does)).join('')],
    ['EXIT STATUS', paragraph('0 when it worked; the others are in lkm-exit-codes(7).')],
    ['SEE ALSO', seeAlso([...related, 'lkm-environment(7)', 'lkm-formatting(7)'])],
  ]);
}

function topicPage(name: string, version: string) {
  const text = topics[name as keyof typeof topics]();
  return page(pageOf(name), '7', version, `${name.replaceAll('-', ' ')} of lkm`, [
    ['DESCRIPTION', `.nf\n${text.trimEnd().split('\n').map(line).join('')}.fi\n`],
    ['SEE ALSO', seeAlso(['lkm(1)'])],
  ]);
}

const codeOf = (name: string): string => String(exitCodes[name as keyof typeof exitCodes]);

type Section = readonly [title: string, body: string];

function page(name: string, section: string, version: string, summary: string, sections: readonly Section[]) {
  const head = `.TH ${name.toUpperCase().replaceAll('-', '\\-')} ${section} ${apiVersion} "lkm ${version}" "lkm manual"\n`;
  const title = `.SH NAME\n${asRoff(name)} \\- ${asRoff(summary)}\n`;
  const body = sections
    .filter(([, text]) => text !== '')
    .map(([heading, text]) => `.SH ${heading}\n${text.replace(/^\.PP\n/, '')}`);
  return { file: `${name}.${section}`, text: [head, title, ...body].join('') };
}

const paragraph = (...texts: string[]): string => texts.map((text) => `.PP\n${line(text)}`).join('');

const entry = (term: string, meaning: string): string => `.TP\n.B ${asRoff(withoutBrackets(term))}\n${line(meaning)}`;

const example = (command: string, does: string): string =>
  `.PP\n${line(`${does}:`)}.RS 4\n.nf\n${line(`$ ${command}`)}.fi\n.RE\n`;

/** Lists pages with their sections, as SEE ALSO does. */
const seeAlso = (pages: readonly string[]): string =>
  pages.map((one, at) => `.BR ${asRoff(one).replace('(', ' (')}${at < pages.length - 1 ? ',' : ''}\n`).join('');

/** A line of text. A dot or an apostrophe at its start is escaped: `roff` would read a request. */
const line = (text: string): string => `${/^[.']/.test(text) ? '\\&' : ''}${asRoff(text)}\n`;

/** Escapes the characters that have a meaning in `roff`, hyphens included. */
const asRoff = (text: string): string =>
  text
    .replaceAll(/[-\\`'^~]/g, (character) => escapes[character] ?? '')
    .replaceAll(/[^\x20-\x7e]/gu, (one) => `\\[u${one.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}]`);

const escapes: Readonly<Record<string, string>> = {
  ...{ '\\': '\\e', '-': '\\-', '`': '\\`', "'": '\\(aq', '^': '\\(ha', '~': '\\(ti' },
};
