import { findTokens } from '../../domain/token.ts';
import { argument, command, flag } from '../command.ts';
import { exitCodes, UsageError, verdictExitCodes } from '../failure/errors.ts';
import { count } from '../output/words.ts';
import { readWholeText } from '../values/files.ts';

export const tokensCheck = command({
  about:
    'Looks for tokens in a text and says by their checksums which of them are whole: a typing error, or a token that ' +
    'was cut off, is found without asking any service. Prints where they stand, and never a token. Exits with 5 when ' +
    'one is not whole or there is none; with --none, when there is any.',
  arguments: { source: argument('<FILE>', 'the text; - reads stdin') },
  options: { none: flag('--none', 'there must be none: for a check before a text is handed on') },
  fields: ['line', 'column', 'kind', 'ends', 'verdict'],
  examples: [
    ['lkm tokens check -', 'is the token on stdin whole?'],
    ['lkm tokens check --none deploy.log', 'before a file is handed on'],
  ],

  async run({ source, none }, { io }) {
    if (findTokens(source).length > 0) {
      throw new UsageError('a token was given in place of a file', [
        'Others on this machine can read what a command was given. Pipe the token:  lkm tokens check -',
      ]);
    }
    const text = await readWholeText(source, io);
    const lines = linesOf(text);
    let line = 0;
    const rows = findTokens(text).map(({ index, token, kind, isWhole }) => {
      while ((lines[line + 1] ?? text.length) <= index) line += 1;
      const column = index - (lines[line] ?? 0) + 1;
      return { line: line + 1, column, kind, ends: token.slice(-4), verdict: isWhole ? 'ok' : 'checksum_wrong' };
    });
    const isFine = none ? rows.length === 0 : rows.length > 0 && rows.every(({ verdict }) => verdict === 'ok');
    const found = `${count(rows.length, 'token')} found`;
    return {
      kind: 'rows',
      rows,
      data: rows,
      quiet: rows.map(({ verdict }) => verdict),
      empty: found,
      notes:
        rows.length === 0
          ? []
          : [{ tone: none ? 'warning' : 'hint', text: none ? `${found}: revoke what was seen by others` : found }],
      exitCode: isFine ? exitCodes.ok : verdictExitCodes.notAccepted,
    };
  },
});

/** Where each line of a text begins. */
const linesOf = (text: string): readonly number[] => [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
