import { apiError } from '../contract/errors.ts';
import { durationField } from '../contract/fields.ts';
import type { Instant } from '../contract/scalars.ts';
import { DEFAULT_OVERLAP, type Token, type tokens } from '../contract/tokens.ts';
import { mayMint } from '../domain/access.ts';
import { addDuration, addSeconds } from '../domain/time.ts';
import type { Context, UseCase } from './context.ts';
import { anyone, type Operations } from './operation.ts';
import { addToken, factsOf, findToken, noLaterThan, rightsRefusal } from './tokens.ts';

type Rotate = (typeof tokens)['rotate'];

/** Makes a token that takes the place of another one, which ends after the overlap. Both spend one budget of keys. */
const rotateToken: UseCase<Rotate> = async (context, input) => {
  const { repositories, caller, now } = context;
  const { tokens } = repositories;
  const old = await findToken(context, input.tokenId);
  if (input.expiresAt != null && input.expiresAt <= now) throw apiError('invalidParams', { fields: ['expiresAt'] });
  const expiresAt = input.expiresAt === undefined ? sameTerm(context, old) : input.expiresAt;
  // The budget of a token is shared with the one that replaces it, so a token may replace itself.
  const isOwn = input.tokenId === caller.tokenId;
  const minter = isOwn ? { ...caller, maxIssues: null } : caller;
  if (!mayMint(minter, { ...old, expiresAt })) throw rightsRefusal(old.id);

  const end = addDuration(now, input.overlap ?? durationField().parse(DEFAULT_OVERLAP));
  // From here on no other request changes it until this transaction ends.
  const retired = await tokens.retire(caller.accountId, input.tokenId, { now, end });
  if (retired?.expiresAt == null) throw apiError('tokenEnded');
  const budgetOf = old.maxIssues === null ? null : await tokens.budgetOf(caller.accountId, old.id);
  const made = await addToken(context, { ...old, expiresAt }, budgetOf);
  context.record({
    type: 'token.rotated',
    resource: { type: 'token', id: made.id },
    data: { ...factsOf(made), replaces: old.id, replacedUntil: retired.expiresAt },
  });
  return { ...made, issued: old.issued, replaces: { id: old.id, expiresAt: retired.expiresAt } };
};

/** The end of a token that is valid for as long as the replaced one was. */
function sameTerm({ caller, now }: Context, { createdAt, expiresAt }: Token): Instant | null {
  if (expiresAt === null) return caller.expiresAt;
  return noLaterThan(caller, addSeconds(now, (Date.parse(expiresAt) - Date.parse(createdAt)) / 1_000));
}

/** The operation that rotates a token. */
export const rotationOperations: Operations<Pick<typeof tokens, 'rotate'>> = {
  rotate: {
    perform: rotateToken,
    authorize: anyone,
    // What a token of this id may do depends on the token: nobody else gets its new secret.
    async authorizeReplay() {
      throw apiError('scopeMissing');
    },
  },
};
