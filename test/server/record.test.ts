import { expectTypeOf, it } from 'vitest';
import type { Route } from '../../src/server/http/routes.ts';
import type { JobContext } from '../../src/server/jobs/job.ts';
import type { Context } from '../../src/service/context.ts';
import type { Repositories } from '../../src/store/store.ts';

it('a transaction is given nothing that reaches a network, which the compiler checks', () => {
  type Known =
    | 'repositories'
    | 'caller'
    | 'now'
    | 'ipAddress'
    | 'random'
    | 'record'
    | 'reportRemainingBudget'
    | 'signer';
  expectTypeOf<keyof Context>().toEqualTypeOf<Known | 'newKeyPair' | 'pageUrl' | 'webhooks'>();
  expectTypeOf<Parameters<JobContext['transaction']>[0]>().parameters.toEqualTypeOf<[repositories: Repositories]>();
  expectTypeOf<Route['perform']>().parameters.toEqualTypeOf<[context: Context, input: unknown]>();
  expectTypeOf<Context['pageUrl']>().toEqualTypeOf<string | null>();
  expectTypeOf<keyof Context['webhooks']>().toEqualTypeOf<'allowPrivate'>();
  expectTypeOf<Context['random']>().returns.toEqualTypeOf<Uint8Array>();
});
