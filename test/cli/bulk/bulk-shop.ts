import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { toInstant } from '../../../src/domain/time.ts';
import { openInstance } from '../../../src/server/runtime.ts';
import { lkm, NOW, type Surroundings, tempFolder } from '../fake-io.ts';

/** A request that a service under test was sent. */
interface Sent {
  readonly path: string;
  readonly key: string | null;
}

/** What becomes of a request before the service sees it; null lets it through. */
export type Meddle = (request: Request, number: number) => Promise<Response | null> | Response | null;

/** The answer to a token that is not valid: it ends a run. */
export const unauthorized = () => Response.json({ message: 'no', code: 1 }, { status: 401 });

/** A whole service in this process with one product, the requests that it was sent, and commands that call it. */
export async function bulkShop() {
  const cwd = tempFolder();
  let now = NOW;
  const instance = await openInstance({ db: join(cwd, 'lkm.db'), clock: () => now, create: true });
  const sent: Sent[] = [];
  let meddle: Meddle = () => null;
  const fetch = async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url);
    sent.push({ path: `${request.method} ${pathname}`, key: request.headers.get('idempotency-key') });
    return (await meddle(request, sent.length)) ?? instance.fetch(request);
  };
  const env: Record<string, string> = {
    NO_COLOR: '1',
    LKM_BASE_URL: 'https://licensing.example.com',
    LKM_TOKEN: instance.ownerToken,
  };
  const at = (argv: readonly string[], more: Surroundings = {}) =>
    lkm(argv, { cwd, fetch, now, ...more, env: { ...env, ...more.env } });
  const product = (await at(['products', 'create', '--name', 'Engine Pro', '-q'])).stdout.trim();
  env.LKM_PRODUCT = product;
  sent.length = 0;
  return {
    cwd,
    product,
    sent,
    at,
    /** Runs a command that succeeds, and reads what it prints as JSON. */
    json: async (...argv: string[]) => JSON.parse((await at([...argv, '--json'])).stdout),
    /** How many keys the service has. */
    keys: async () => {
      const { stdout } = await at(['keys', 'list', '--json']);
      sent.pop();
      return JSON.parse(stdout);
    },
    /** What the service answers to a request. */
    through: (request: Request) => instance.fetch(request),
    write: (name: string, text: string | Buffer) => writeFileSync(join(cwd, name), text),
    /** Lets time pass, for the service and for commands. The service forgets idempotency keys that are a day old. */
    pass: (hours: number) => {
      now += hours * 3_600_000;
      using database = new DatabaseSync(join(cwd, 'lkm.db'));
      database.prepare('DELETE FROM idempotency WHERE created_at < ?').run(toInstant(now - 24 * 3_600_000));
    },
    meddle: (next: Meddle) => {
      meddle = next;
    },
    [Symbol.asyncDispose]: () => instance.close(),
  };
}
