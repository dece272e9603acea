import { findTokens } from '../../domain/token.ts';
import { argument, command, flag } from '../command.ts';
import { exitCodes, UsageError, verdictExitCodes } from '../failure/errors.ts';
import type { Note } from '../output/terminal.ts';
import { count } from '../output/words.ts';
import { readWholeText } from '../values/files.ts';
import { listOf } from './results.ts';

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
    const rows = text.split('\n').flatMap((written, at) =>
      findTokens(written).map(({ index, token, kind, isWhole }) => {
        const verdict = isWhole ? 'ok' : 'checksum_wrong';
        return { line: at + 1, column: index + 1, kind, ends: token.slice(-4), verdict };
      }),
    );
    const isFine = none ? rows.length === 0 : rows.length > 0 && rows.every(({ verdict }) => verdict === 'ok');
    const found = `${count(rows.length, 'token')} found`;
    const note: Note = { tone: 'hint', text: none ? `${found}: revoke what was seen by others` : found };
    return {
      ...listOf(rows, found, { name: 'verdict', notes: rows.length === 0 ? [] : [note] }),
      exitCode: isFine ? exitCodes.ok : verdictExitCodes.notAccepted,
    };
  },
});
