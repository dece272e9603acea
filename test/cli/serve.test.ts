import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openConnection } from '../support/raw-http.ts';
import { absentIds } from '../support/requests.ts';
import { lkm, tempFolder } from './fake-io.ts';
import { started } from './started.ts';

describe('lkm serve', () => {
  it('says in its first line where it listens, serves, and ends well when told to', async () => {
    const cwd = tempFolder();
    const { printed, stop } = await started(['--json'], { cwd });
    const { url, port, ...ready } = JSON.parse(printed.stdout);
    expect(ready).toEqual({ event: 'ready', pid: 4121, db: join(cwd, '.local/share/lkm/lkm.db') });
    expect(url).toBe(`http://127.0.0.1:${port}`);
    expect((await fetch(`${url}/.well-known/jwks.json`)).status).toBe(200);
    expect(await stop()).toBe(0);
    await expect(fetch(url)).rejects.toThrow();
  });

  it('stores the token of a new database as profile local, readable by its owner only', async () => {
    const cwd = tempFolder();
    const { printed, stop } = await started(['--json'], { cwd });
    const { url, db } = JSON.parse(printed.stdout);
    const file = join(cwd, '.config/lkm/config.json');
    const { currentProfile, profiles } = JSON.parse(readFileSync(file, 'utf8'));
    expect({ currentProfile, profiles }).toEqual({
      currentProfile: 'local',
      profiles: { local: { baseUrl: url, token: expect.stringMatching(/^lkm_admin_/), db } },
    });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(join(cwd, '.config/lkm')).mode & 0o777).toBe(0o700);
    expect((await lkm(['products', 'create', '--name', 'Engine Pro'], { cwd })).code).toBe(0);
    expect(await stop()).toBe(0);
  });

  it('finds its profile again on another port', async () => {
    const cwd = tempFolder();
    await (await started([], { cwd })).stop();
    const { printed, stop } = await started([], { cwd });
    expect(printed.stderr).toContain('  profile   local\n');
    expect((await lkm(['products', 'list'], { cwd })).code).toBe(0);
    await stop();
  });

  it('shows a new token on a terminal, and nowhere else', async () => {
    const onTerminal = await started([], { terminal: true, env: { NO_COLOR: '1' } });
    expect(onTerminal.printed.stderr).toMatch(
      /^ready at http:\S+\n {2}database {2}\S+ \(new\)\n {2}token {5}lkm_admin_\w+ \(shown once\)\n/,
    );
    await onTerminal.stop();
    const inLog = await started([]);
    expect(inLog.printed.stderr).not.toContain('lkm_admin_');
    await inLog.stop();
  });

  it('keeps the clock it is given', async () => {
    const cwd = tempFolder();
    const { stop } = await started(['--clock', '2030-01-01T00:00:00Z'], { cwd });
    const { stdout } = await lkm(['products', 'create', '--name', 'x', '--fields', 'createdAt'], { cwd });
    expect(stdout).toBe('2030-01-01T00:00:00.000Z\n');
    await stop();
  });

  it('keeps the limits it is given', async () => {
    const limits = [
      '--lookup-limit',
      '1',
      '--max-connections',
      '9',
      '--max-connections-per-address',
      '1',
      '--drain',
      '0',
    ];
    const cwd = tempFolder();
    const { printed, stop } = await started(['--json', ...limits], { cwd });
    const { port, url } = JSON.parse(printed.stdout);
    const { token } = JSON.parse(readFileSync(join(cwd, '.config/lkm/config.json'), 'utf8')).profiles.local;
    const { productId, licenseKey } = absentIds;
    const look = async () => {
      const headers = { Authorization: `Bearer ${token}`, Connection: 'close' };
      return (await fetch(`${url}/key?${new URLSearchParams({ productId, licenseKey })}`, { headers })).status;
    };
    expect([await look(), await look()]).toEqual([404, 429]);
    using held = openConnection(port);
    held.send('GET /health HTTP/1.1', 'Host: localhost', '', '');
    await held.until(/200/);
    using refused = openConnection(port);
    expect(await refused.end()).toMatch(/^HTTP\/1\.1 503 /);
    held.send('half of a request');
    expect(await stop()).toBe(0);
  });

  it('ends with 13 and one clear line when the port is taken', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const address = taken.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const { code, stderr } = await lkm(['serve', '--port', String(port)]);
    expect(code).toBe(13);
    expect(stderr).toContain(`${port}`);
    taken.close();
  });

  it.each([
    [['--port', '65536'], "--port: '65536' is not a port"],
    [['--log-format', 'xml'], "--log-format: 'xml' is not one of pretty, json, none"],
    [['--rate-limit', '0'], "--rate-limit: '0' is neither a number of requests nor 'off'"],
    [['--max-connections', '0'], "--max-connections: '0' is not a number above 0"],
    [['--lookup-limit', 'none'], "--lookup-limit: 'none' is neither a number of requests nor 'off'"],
    [['--drain', '1s'], "--drain: '1s' is not a whole number"],
    [['--clock', 'tomorrow'], "--clock: 'tomorrow' is not an instant"],
    [['--tls-cert', 'cert.pem'], '--tls-cert and --tls-key go together'],
  ])('refuses %s', async (argv, says) => {
    const { code, stderr } = await lkm(['serve', ...argv]);
    expect(code).toBe(2);
    expect(stderr).toContain(says);
  });
});
