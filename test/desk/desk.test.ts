import { execFile, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import stringWidth from 'string-width';
import { expect, it, onTestFinished } from 'vitest';
import { bin, installed } from '../support/installed.ts';
import { startReceiver } from '../support/receiver.ts';
import { hasProgram } from '../support/terminal.ts';
import { type Asked, Tmux } from '../support/tmux.ts';
import { tasks } from './tasks.ts';

/** A machine with `lkm` on its path and nothing set up, beside a server that somebody else runs. */
async function furnish() {
  const server = installed();
  const words = [
    bin,
    'serve',
    '--db',
    'lkm.db',
    '--port',
    '0',
    '--json',
    '--log-format',
    'none',
    '--allow-private-webhooks',
  ];
  const child = spawn(process.execPath, words, {
    env: server.env,
    cwd: server.home,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const { value: ready } = await createInterface(child.stdout)[Symbol.asyncIterator]().next();
  const { url } = JSON.parse(ready ?? '') as { url: string };
  const receiver = await startReceiver();
  onTestFinished(() => receiver[Symbol.asyncDispose]());
  const { profiles } = JSON.parse(readFileSync(join(server.home, '.config/lkm/config.json'), 'utf8'));
  const desk = installed();
  writeFileSync(join(desk.home, 'orders.csv'), excelFile());
  const env = { ...desk.env, LKM_BASE_URL: url, LKM_TOKEN: profiles.local.token };
  return {
    ...desk,
    /** What others do meanwhile. */
    others: (line: string) => promisify(execFile)('bash', ['-c', line], { env, cwd: desk.home }),
    known: {
      address: url.replace('http://', ''),
      token: profiles.local.token as string,
      db: join(server.home, 'lkm.db'),
      receiver: receiver.url,
    },
  };
}

/** 200 orders as Excel of a German machine writes them: Windows-1252, semicolons, CRLF. */
function excelFile(): Buffer {
  const orders = Array.from({ length: 200 }, (_, at) => at + 1).map(
    (at) => `B-${String(at).padStart(4, '0')};Größe ${at} GmbH;it@firma-${at}.example;31.12.2027;3`,
  );
  const lines = ['sep=;', 'Bestellnummer;Kunde;E-Mail;Gültig bis;Anzahl PCs', ...orders, ''];
  return Buffer.from(lines.join('\r\n'), 'latin1');
}

/** Lines that the terminal had to break, but for data: keys in a file, secrets and what was typed. */
const tooLong = (text: string): string[] =>
  text
    .split('\n')
    .filter((line) => stringWidth(line) > 80 && !/^\[\d+:\d+\]\$ |^B-\d+;|^key,|^[0-9A-Z-]{29},/.test(line));

it('asks for two commands at most for a task', () => {
  const long = tasks.filter(({ steps, isBulk = false }) => steps.length > 2 && !isBulk);
  expect(long.map(({ title }) => title)).toEqual([]);
});

it.skipIf(!hasProgram('tmux'))(
  'does what a person in support does, at the first try, in a terminal of 80 columns',
  async () => {
    const { home, env, known: given, others } = await furnish();
    using terminal = new Tmux(home, env);
    await terminal.ready();
    const known: Record<string, string> = { ...given };
    const failed: unknown[] = [];
    const lineOf = (line: string | ((known: Readonly<Record<string, string>>) => string)) =>
      typeof line === 'string' ? line : line(known);
    for (const { title, given, steps } of tasks) {
      if (given !== undefined) await others(lineOf(given));
      for (const { type, asked = [], shows, exitCode = 0, keep = {} } of steps) {
        const answers = asked.map(([question, answer, chosen]): Asked => [question, lineOf(answer), chosen]);
        const { text, exitCode: ended } = await terminal.run(lineOf(type), answers);
        const kept = Object.entries(keep).map(([name, pattern]) => [name, pattern.exec(text)] as const);
        const missing = [
          ...shows.filter((one) => (typeof one === 'string' ? !text.includes(one) : !one.test(text))),
          ...kept.filter(([, found]) => found === null).map(([name]) => name),
        ];
        const broken = tooLong(text);
        if (missing.length > 0 || broken.length > 0 || ended !== exitCode)
          failed.push({ title, text, missing, broken, ended });
        for (const [name, found] of kept) known[name] = found?.[1] ?? found?.[0] ?? '';
      }
    }
    expect(failed).toEqual([]);
    expect(known.again).toBe(known.ordered);
  },
);

it.skipIf(!hasProgram('tmux'))('completes a product, a customer and a key', async () => {
  const { home, env, known, others } = await furnish();
  await others('lkm products create "Engine Pro" && lkm customers create "Müller & Söhne"');
  const { stdout: key } = await others('lkm keys create -P "Engine Pro"');
  await others(`lkm login --base-url ${known.address} --with-token <<< $LKM_TOKEN`);
  using terminal = new Tmux(home, env);
  await terminal.ready();
  await terminal.run('source <(lkm completion bash)');
  for (const [typed, shown] of [
    ['lkm keys create -P Eng', /-P Engine\\ Pro$/m],
    ['lkm customers get M', /get Müller\\ \\&\\ Söhne$/m],
    [`lkm keys get ${key.slice(0, 3)}`, new RegExp(`get ${key.trim()}$`, 'm')],
  ] as const) {
    terminal.type(typed);
    terminal.press('Tab');
    await terminal.until(shown);
    terminal.press('Enter');
    expect((await terminal.ended()).exitCode).toBe(0);
  }
});
