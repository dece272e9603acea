import type { Context } from '../../service/context.ts';
import type { Repositories } from '../../store/store.ts';
import { listRoutes } from '../http/routes.ts';
import type { Part, ReadJob } from './job.ts';

const routes = new Map(listRoutes().map((route) => [route.name, route]));

/** Makes a function that performs a read, and makes its response part by part. */
export const createPerformer = (repositories: Repositories) =>
  async function* perform({ operation, input, caller, now, ipAddress }: ReadJob): AsyncGenerator<Part> {
    const route = routes.get(operation);
    if (route === undefined) throw new Error(`no operation is called ${operation}`);
    const { status, wrap, stream } = route.endpoint.reply;
    const context: Context = {
      ...{ repositories, caller, now, ipAddress },
      ...{ random: refuse, record: refuse, reportRemainingBudget: refuse, signer: refuse, newKeyPair: refuse },
      pageUrl: null,
      webhooks: { allowPrivate: false },
    };
    const result = (await route.perform(context, input)) as never;
    if (stream === undefined) {
      yield { status, text: JSON.stringify(wrap(result)), isLast: true };
      return;
    }
    let text: string | null = null;
    for await (const piece of stream(result)) {
      if (text !== null) yield { status, text, isLast: false };
      text = piece;
    }
    yield { status, text: text ?? '', isLast: true };
  };

/** A read changes nothing, signs nothing, and makes no keys. */
function refuse(): never {
  throw new TypeError('a read of many rows only reads');
}
