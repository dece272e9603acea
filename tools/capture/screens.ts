import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** The size of the terminal; what stays empty below is not drawn. */
export const COLUMNS = 80;
const LINES = 60;

interface Scene {
  readonly typed: readonly string[];
  /** Whether a server with demonstration data is called. */
  readonly seeded?: boolean;
}

const begin = ['export LKM_DB=lkm.db', 'export LKM_PRODUCT=$(lkm products create --name "Engine Pro" --create)'];

/** The pictures in the documentation. */
export const scenes: Readonly<Record<string, Scene>> = {
  tour: {
    typed: [
      ...begin,
      'CUSTOMER=$(lkm customers create --name "Ada Ltd" --email it@ada.example)',
      'KEY=$(lkm keys create --customer "$CUSTOMER" --max-activations 2 --expires 1y)',
      'lkm keys sign "$KEY" --host-id build-01 -o build-01.lic',
      'lkm keys verify build-01.lic --host-id laptop-9',
      'lkm keys get "$KEY"',
    ],
  },
  bulk: {
    typed: [
      ...begin,
      'printf "reference,expires\\nord-1,1y\\nord-2,never\\nord-3,6mo\\n" > orders.csv',
      'lkm keys create -f orders.csv',
      'lkm keys create -f orders.csv -o keys.csv',
      'cut -d, -f1-4 keys.csv',
    ],
  },
  stats: { typed: ['lkm stats'], seeded: true },
};

/** The instant at which the demonstration data ends: the numbers of its weeks are then always the same. */
const CLOCK = '2026-11-20T12:00:00Z';

/** Types a scene into a real terminal of tmux, and returns what it shows then, with its colours. */
export async function screenOf({ typed, seeded = false }: Scene): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'lkm-capture-'));
  const socket = ['-L', folder.replaceAll('/', '-'), '-f', '/dev/null'];
  const tmux = (...words: string[]) => execFileSync('tmux', [...socket, ...words], { encoding: 'utf8' });
  const command = `"${process.execPath}" "${resolve('bin/lkm.js')}"`;
  const startup = join(folder, 'shell');
  // What the server says before the shell begins is cleared.
  writeFileSync(startup, `PS1='$ '\nlkm() { ${command} "$@"; }\nclear\n`);
  const env = `env -i PATH="$PATH" HOME="${folder}" LANG=C.UTF-8 TERM=screen ENV=${startup}`;
  const serve = `${command} serve --seed --clock ${CLOCK} --db demo.db --port 0 --log-format none --`;
  try {
    const size = ['-x', `${COLUMNS}`, '-y', `${LINES}`];
    tmux('new-session', '-d', ...size, '-c', folder, `${env} ${seeded ? serve : ''} sh -i`);
    const look = () => tmux('capture-pane', '-p');
    await prompted(look, 1);
    for (const [at, line] of typed.entries()) {
      tmux('send-keys', '-l', line);
      tmux('send-keys', 'Enter');
      await prompted(look, at + 2);
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
