import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** What is typed for a picture, and how large the terminal is. */
interface Scene {
  readonly columns: number;
  readonly lines: number;
  readonly typed: readonly string[];
  /** Whether a server with demonstration data is called. */
  readonly seeded?: boolean;
}

/** The pictures in the documentation. */
export const scenes = {
  tour: {
    columns: 80,
    lines: 40,
    typed: [
      'export LKM_DB=lkm.db',
      'export LKM_PRODUCT=$(lkm products create --name "Engine Pro" --create)',
      'CUSTOMER=$(lkm customers create --name "Ada Ltd" --email it@ada.example)',
      'KEY=$(lkm keys create --customer "$CUSTOMER" --max-activations 2 --expires 1y)',
      'lkm keys sign "$KEY" --host-id build-01 -o build-01.lic',
      'lkm keys verify build-01.lic --host-id laptop-9',
      'lkm keys get "$KEY"',
    ],
  },
  bulk: {
    columns: 80,
    lines: 40,
    typed: [
      'export LKM_DB=lkm.db',
      'export LKM_PRODUCT=$(lkm products create --name "Engine Pro" --create)',
      'printf "reference,expires\\nord-1,1y\\nord-2,never\\nord-3,6mo\\n" > orders.csv',
      'lkm keys create -f orders.csv',
      'lkm keys create -f orders.csv -o keys.csv',
      'cut -d, -f1-4 keys.csv',
    ],
  },
  stats: { columns: 80, lines: 60, typed: ['lkm stats'], seeded: true },
} as const satisfies Record<string, Scene>;

/** The instant at which the demonstration data ends: the numbers of its weeks are then always the same. */
const CLOCK = '2026-11-20T12:00:00Z';

/** Types a scene into a real terminal of tmux, and returns what it shows then, with its colours. */
export async function screenOf({ columns, lines, typed, seeded = false }: Scene): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'lkm-capture-'));
  const socket = ['-L', folder.replaceAll('/', '-'), '-f', '/dev/null'];
  const tmux = (...words: string[]) => execFileSync('tmux', [...socket, ...words], { encoding: 'utf8' });
  const command = `"${process.execPath}" "${resolve('bin/lkm.js')}"`;
  const startup = join(folder, 'shell');
  // What the server says before the shell begins is cleared.
  writeFileSync(startup, `PS1='$ '\nlkm() { ${command} "$@"; }\nclear\n`);
  const env = `env -i PATH="$PATH" HOME="${folder}" LANG=C.UTF-8 TERM=screen ENV=${startup}`;
  const served = `${command} serve --seed --clock ${CLOCK} --db demo.db --port 0 --log-format none --`;
  try {
    const shell = `${env} ${seeded ? served : ''} sh -i`;
    tmux('new-session', '-d', '-x', String(columns), '-y', String(lines), '-c', folder, shell);
    await prompted(() => tmux('capture-pane', '-p'), 1);
    for (const [at, line] of typed.entries()) {
      tmux('send-keys', '-l', line);
      tmux('send-keys', 'Enter');
      await prompted(() => tmux('capture-pane', '-p'), at + 2);
    }
    return tmux('capture-pane', '-e', '-p').replace(/\n\$ ?\s*$/, '\n');
  } finally {
    spawnSync('tmux', [...socket, 'kill-server']);
    rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
  }
}

/** Waits for the prompt behind so many commands. */
async function prompted(look: () => string, prompts: number): Promise<void> {
  for (let looks = 0; looks < 600; looks++) {
    const screen = look().trimEnd();
    if (/(^|\n)\$$/.test(screen) && screen.split('\n').filter((line) => line.startsWith('$')).length >= prompts) return;
    await sleep(50);
  }
  throw new Error(`the terminal was never ready:\n${look()}`);
}

/** A screen without what differs each time: keys, ids, runs, times. */
export const stable = (text: string): string =>
  text
    .replaceAll(/\b[0-9A-Z]{5}(-[0-9A-Z]{5}){4}\b/g, 'KEY')
    .replaceAll(/\b(prod|cus|fil|lic)_[0-9a-z]{26}\b/g, '$1_ID')
    .replaceAll(/\b(run |(?<=\n))[0-9a-hjkmnp-tv-z]{12}\b/g, '$1RUN')
    .replaceAll(/\brun of \d{2}:\d{2} UTC/g, 'run of WHEN')
    .replaceAll(
      /(\d{4}-\d{2}-\d{2} \d{2}:\d{2} UTC|\(?\b(in )?\d+ (day|hour|month|minute|year)s?( ago)?\)?|just now|in a moment)/g,
      'WHEN',
    )
    .replaceAll(/ +/g, ' ');
