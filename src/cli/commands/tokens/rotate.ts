import { argument, change, command, option } from '../../command.ts';
import { moment } from '../../output/words.ts';
import { parseCalendarDuration } from '../../values/duration.ts';
import { createdToken, expiresOption, tokenFields } from './tokens.ts';

export const tokensRotate = command({
  about:
    'Makes a new token with the name and the rights of another one, and prints it, this once. The replaced one stays ' +
    'valid for a day, or as long as --overlap says. Both spend one budget of keys.',
  operation: 'tokens.rotate',
  arguments: { id: argument('<ID>', 'the token to replace, by its id', { field: 'tokenId' }) },
  options: {
    overlap: option(
      '--overlap <DUR>',
      'how long the replaced one stays valid, such as 12h or 7d; 0s for no time (1d)',
      {
        parse: parseCalendarDuration,
        field: 'overlap',
      },
    ),
    expires: expiresOption('as long as the replaced one was valid'),
    ...change,
  },
  fields: [
    { name: 'token' },
    ...tokenFields,
    { name: 'replaces', shown: 'data' },
    { name: 'idempotencyKey', shown: 'chosen' },
  ],
  examples: [
    ['lkm tokens rotate tok_…', 'the old one works for another day'],
    ['lkm tokens rotate tok_… --overlap 0s', 'it has leaked'],
  ],

  async run({ id, overlap, expires }, context) {
    const changed = await context.change((client, call) =>
      client.tokens.rotate({ tokenId: id, overlap, expiresAt: expires }, call),
    );
    return createdToken(changed, `${id} works until ${moment(changed.answer.replaces.expiresAt)}`);
  },
});
