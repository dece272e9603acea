import { apiError } from '../contract/errors.ts';
import { durationField } from '../contract/fields.ts';
import type { Contract } from '../contract/index.ts';
import type { Instant, TokenId } from '../contract/scalars.ts';
import { DEFAULT_OVERLAP, type Token } from '../contract/tokens.ts';
import { type Caller, hasRightsOf, mayMint, mintRefusal, scopesOf, seesToken, unrestricted } from '../domain/access.ts';
import { addDuration, addSeconds } from '../domain/time.ts';
import { isGuessableHash } from '../domain/token.ts';
import type { Context } from './context.ts';
import { readAll, readList } from './lists.ts';
import { addToken, insertToken, type NewToken, noLaterThan, refusePast, rightsOf, tokenEvent } from './new-tokens.ts';
import { anyone, type Operations, orThrow, type StoredSuccess } from './operation.ts';
import { rightsRefusal } from './record.ts';

type Tokens = Contract['tokens'];

/** Replays to callers that may create a token with these rights. */
const toMakers = {
  authorize: (caller: Caller, { kind, scopes = [], productIds, networks, ...given }: NewToken) => {
    const wanted = {
      kind,
      scopes: scopesOf(kind, scopes),
      productIds: productIds ?? null,
      networks: networks ?? null,
      // Missing rights come from the caller.
      rateLimit: given.rateLimit ?? caller.rateLimit,
      expiresAt: given.expiresAt === undefined ? caller.expiresAt : given.expiresAt,
    };
    return mintRefusal(caller, wanted);
  },
  // The rights of the stored token came partly from its creator: only a caller that may create such a token receives it.
  async authorizeReplay({ caller }: Context, _: NewToken, { payload }: StoredSuccess<Token>) {
    if (!mayMint(caller, payload())) throw apiError('scopeMissing');
  },
} as const;

/** A token that is limited to products sees the tokens of these products. */
export const tokenOperations: Operations<Tokens> = {
  list: {
    authorize: anyone,
    async perform({ repositories: { tokens }, caller }, input) {
      const { accountId } = caller;
      if (caller.productIds === null) return readList(input, tokens.list(accountId));
      const all = await Array.fromAsync(tokens.list(accountId).all());
      const seen = all.filter(({ productIds }) => seesToken(caller, productIds));
      return readAll(input, seen);
    },
  },

  get: {
    authorize: anyone,
    perform: (context, { tokenId }) => findToken(context, tokenId),
  },

  create: {
    ...toMakers,
    async perform(context, input) {
      const token = await addToken(context, context.caller.accountId, await rightsOf(context, input));
      context.record(tokenEvent('token.created', token));
      return token;
    },
  },

  import: {
    ...toMakers,
    async perform(context, { hash, ...input }) {
      if (isGuessableHash(hash)) throw apiError('invalidParams', { fields: ['hash'] });
      const rights = await rightsOf(context, input);
      const token = orThrow(await insertToken(context, context.caller.accountId, { ...rights, hash }), 'tokenTaken');
      context.record({ ...tokenEvent('token.created', token), details: { imported: true } });
      return token;
    },
  },

  rotate: {
    authorize: anyone,
    // The rights depend on the replaced token, not on the request: only the first caller receives the new secret.
    async authorizeReplay() {
      throw apiError('scopeMissing');
    },
    async perform(context, input) {
      const { repositories, caller, now } = context;
      const { tokens } = repositories;
      const { accountId } = caller;
      const old = await findToken(context, input.tokenId);
      refusePast(input.expiresAt, now);
      const expiresAt = input.expiresAt === undefined ? sameTerm(context, old) : input.expiresAt;
      // The budget of a token is shared with its replacement, so a token may replace itself.
      const minter = input.tokenId === caller.tokenId ? { ...caller, maxIssues: null } : caller;
      const refusal = mintRefusal(minter, { ...old, expiresAt });
      if (refusal !== null) throw rightsRefusal('token', old.id, refusal, caller);

      const end = addDuration(now, input.overlap ?? durationField().parse(DEFAULT_OVERLAP));
      // From here on no other request changes it until this transaction ends.
      const retired = await tokens.retire(accountId, input.tokenId, { now, end });
      const replacedUntil = orThrow(retired?.expiresAt, 'tokenEnded');
      const budgetOf = old.maxIssues === null ? null : await tokens.budgetOf(accountId, old.id);
      const made = await addToken(context, accountId, { ...old, expiresAt }, budgetOf);
      context.record(tokenEvent('token.rotated', made, { replaces: old.id, replacedUntil }));
      return { ...made, issued: old.issued, replaces: { id: old.id, expiresAt: replacedUntil } };
    },
  },

  /**
   * Revokes the token in use, or a token without further rights; the last admin token only with `force`, since no other
   * token could create one.
   */
  revoke: {
    authorize: anyone,
    // `authorize` cannot know the rights of the token that is revoked.
    async authorizeReplay({ caller }) {
      if (caller.productIds !== null) throw apiError('tokenNotFound');
    },
    async perform(context, { tokenId, force = false }) {
      const { repositories, caller, now, record } = context;
      const { accounts, tokens } = repositories;
      const { accountId } = caller;
      const token = await findToken(context, tokenId);
      if (tokenId !== caller.tokenId && !hasRightsOf(caller, token)) throw rightsRefusal('token', token.id);
      const isLive = token.revokedAt === null && (token.expiresAt === null || token.expiresAt > now);
      if (!force && token.kind === 'admin' && isLive) {
        // Two admins that revoke each other at once take turns, so that one of them stays.
        await accounts.lock(accountId);
        if (!(await tokens.hasOtherAdmin(accountId, tokenId, now))) throw apiError('lastAdminToken');
      }
      await tokens.revoke(accountId, tokenId, now);
      record({
        // Revoking it again changes nothing.
        ...(token.revokedAt === null && { type: 'token.revoked' }),
        resource: { type: 'token', id: tokenId },
        data: { kind: token.kind },
      });
    },
  },

  self: {
    authorize: anyone,
    // The owner of a database in process has no token, and is shown as an admin.
    async perform({ repositories, caller: { accountId, tokenId }, now }) {
      return tokenId === null
        ? owner(accountId, now)
        : orThrow(await repositories.tokens.find(accountId, tokenId), 'invalidToken');
    },
  },
};

/** A token of the account, if the caller may see it. Throws ApiError `tokenNotFound`. */
async function findToken({ repositories, caller }: Context, id: TokenId): Promise<Token> {
  const token = orThrow(await repositories.tokens.find(caller.accountId, id), 'tokenNotFound');
  if (!seesToken(caller, token.productIds)) throw apiError('tokenNotFound');
  return token;
}

/** The end of a token that is valid for as long as the replaced one was. */
function sameTerm({ caller, now }: Context, { createdAt, expiresAt }: Token): Instant | null {
  if (expiresAt === null) return caller.expiresAt;
  return noLaterThan(caller, addSeconds(now, (Date.parse(expiresAt) - Date.parse(createdAt)) / 1_000));
}

const owner = (accountId: string, now: Instant): Token => ({
  id: accountId,
  name: 'owner of the database',
  kind: 'admin',
  scopes: [...scopesOf('admin', [])],
  ...unrestricted,
  issued: null,
  revokedAt: null,
  lastUsedOn: null,
  createdAt: now,
});
