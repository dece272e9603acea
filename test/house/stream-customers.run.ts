import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { DatabaseSync, StatementSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

// node stream-customers.run.ts SERVER FOLDER ROWS
//
// Serves a database of so many customers, reads their export slowly, and prints how many rows the server had read from
// the database beyond those that had arrived. What is between the two is in the memory of the server, and in the buffers
// of the connection, a few megabytes.

const [server = '', folder = '', rows = ''] = process.argv.slice(2);
const { startServer }: typeof import('../../src/server/index.ts') = await import(pathToFileURL(server).href);
const db = join(folder, 'lkm.db');
const options = { db, host: '127.0.0.1', port: 0, logFormat: 'none', logTo: { write: () => {} } } as const;

let produced = 0;
countRows();
const first = await startServer(options);
await first.close();
addCustomers(first.created?.accountId ?? '');
const running = await startServer(options);
const response = await open(`${running.url}/customer/export`, first.created?.adminToken ?? '');

await sleep(500);
const whenNothingIsRead = produced;
await sleep(250);
const isHeld = produced === whenNothingIsRead;

let [arrived, sinceRest, mostInBetween, last] = [0, 0, produced, ''];
for await (const chunk of response) {
  const lines = (last + chunk).split('\n');
  last = lines.pop() ?? '';
  arrived += lines.length;
  sinceRest += lines.length;
  for (const line of lines) JSON.parse(line);
  mostInBetween = Math.max(mostInBetween, produced - arrived);
  if (sinceRest < 1_000) continue;
  sinceRest = 0;
  await sleep(10);
}
await running.close();
const { statusCode, headers } = response;
process.stdout.write(
  JSON.stringify({ statusCode, type: headers['content-type'], arrived, produced, isHeld, mostInBetween }),
);

/** Counts the customers that any statement returns. */
function countRows(): void {
  StatementSync.prototype.all = new Proxy(StatementSync.prototype.all, {
    apply(all, statement, values) {
      const found = Reflect.apply(all, statement, values);
      if (found[0] !== undefined && 'email_key' in found[0]) produced += found.length;
      return found;
    },
  });
}

function addCustomers(accountId: string): void {
  const database = new DatabaseSync(db);
  const name = 'x'.repeat(400);
  database
    .prepare(
      `insert into customers (account_id, id, name, email, email_key, search_text, active, created_at, updated_at)
       with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ?)
       select ?, printf('cus_%08d', n), ?, null, null, '', 1, ?, ? from numbers`,
    )
    .run(Number(rows), accountId, name, '2026-11-21T10:00:00.000Z', '2026-11-21T10:00:00.000Z');
  database.close();
}

function open(url: string, token: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(url, { headers: { authorization: `Bearer ${token}` } }, (response) =>
      resolve(response.setEncoding('utf8')),
    ).once('error', reject);
  });
}
