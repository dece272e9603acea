import { argument, command } from '../../command.ts';
import { expiry } from '../../output/words.ts';
import { tokenFields } from './tokens.ts';

export const tokensShow = command({
  about: 'Shows one token: what it may do, from where and for how long, and when it was used last. Never its secret.',
  operation: 'tokens.get',
  arguments: { id: argument('<ID>', 'the token, by its id', { field: 'tokenId' }) },
  fields: tokenFields.map((field) => {
    const { drops: _, shown, ...rest } = field;
    if (field.name === 'expiresAt') return { ...rest, show: expiry };
    if (field.name === 'lastUsedOn') return { ...rest, show: (day) => (day === null ? 'never' : String(day)) };
    return shown === 'chosen' ? { ...rest, show: field.show ?? listOrAny } : field;
  }),
  examples: [
    ['lkm tokens show tok_…', 'everything about it'],
    ['lkm tokens show tok_… --json --fields lastUsedOn', 'is it still in use?'],
  ],

  async run({ id }, context) {
    const token = await (await context.client()).tokens.get({ tokenId: id });
    return { kind: 'record', row: token, data: token, quiet: [token.id] };
  },
});

function listOrAny(value: unknown): string {
  if (Array.isArray(value)) return value.join(', ');
  return value === null ? 'any' : String(value);
}
