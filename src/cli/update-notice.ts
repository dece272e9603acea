import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { openNetwork } from '../client/network.ts';
import { readBaseUrl } from '../client/request.ts';
import { stateDir, writeAtomically } from './config/files.ts';
import type { Settings } from './config/settings.ts';
import type { Io } from './io.ts';
import { talk } from './output/terminal.ts';

const DAY_MS = 86_400_000;
const TIMEOUT_MS = 1_000;

/** Asks a registry once a day for the newest version, and says on stderr when it is newer than this one. Never throws. */
export async function sayUpdate(registry: string, settings: Settings, io: Io): Promise<void> {
  try {
    const file = join(stateDir(io), 'update.json');
    if (Math.abs(io.now() - lastAsked(file)) < DAY_MS) return;
    mkdirSync(stateDir(io), { recursive: true, mode: 0o700 });
    const keep = (version: string | null): void =>
      writeAtomically(file, JSON.stringify({ askedAt: io.now(), version }), 0o600, io);
    // Written down first: where nothing answers, no other command of the day waits for it.
    keep(null);
    const version = await newestVersion(registry, io);
    keep(version);
    if (version.localeCompare(io.version, 'en', { numeric: true }) <= 0) return;
    await talk([{ tone: 'hint', text: `lkm ${version} is available; this is ${io.version}` }], settings, io);
  } catch {
    // Nobody asked for it just now.
  }
}

/** In milliseconds since 1970; 0 when it was never asked. */
function lastAsked(file: string): number {
  try {
    return Number(JSON.parse(readFileSync(file, 'utf8')).askedAt);
  } catch {
    return 0;
  }
}

async function newestVersion(registry: string, io: Io): Promise<string> {
  const { href, isLoopback } = readBaseUrl(registry, { plainHttpAllowed: true });
  const send = openNetwork({ connectTimeoutMs: TIMEOUT_MS, useProxy: !isLoopback });
  const url = `${href}/lkm/latest`;
  const headers = { accept: 'application/json', 'user-agent': `lkm/${io.version}` };
  const signal = AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), io.stop]);
  const { status, body } = await send({ url, method: 'GET', headers, body: null }, signal);
  const { version } = JSON.parse(status === 200 && body !== null ? await text(body) : '{}');
  if (!/^\d+\.\d+\.\d+$/.test(version)) throw new Error(`the registry answered ${status}`);
  return version;
}
