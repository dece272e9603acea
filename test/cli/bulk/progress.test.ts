import { describe, expect, it, vi } from 'vitest';
import { readSettings } from '../../../src/cli/config/settings.ts';
import { showBar } from '../../../src/cli/output/progress.ts';
import { fakeIo, NOW } from '../fake-io.ts';
import { bulkShop } from './bulk-shop.ts';

describe('the progress of a run', () => {
  it('is drawn on a terminal only, and gone in the end', async () => {
    await using shop = await bulkShop();
    const drawn = await shop.at(['keys', 'create', '--count', '2', '--expires', '1y'], { terminal: { stderr: true } });
    expect(drawn.stderr).toContain(`\r\u001b[K${'░'.repeat(24)} 0 of 2 issued`);
    expect(drawn.stderr).toMatch(/\[Kissued 2 of 2 keys\n$/);
    const plain = await shop.at(['keys', 'create', '--count', '3']);
    expect(plain.stderr).not.toContain('\r');
    const still = await shop.at(['keys', 'create', '--count', '4', '--expires', '1y', '--no-progress'], {
      terminal: { stderr: true },
    });
    expect(still.stderr).toMatch(/^issued 4 of 4 keys\n$/);
  });

  it('says on a line of a terminal how long the service asks to wait, in place of the speed', async () => {
    const { io, printed } = fakeIo({ terminal: { stderr: true } });
    const bar = showBar('issued', 5_000, readSettings({}, io), io);
    for (let done = 0; done < 1_000; done++) bar.add(true);
    bar.waiting(1_000);
    await vi.waitFor(() => expect(printed.stderr).toContain('1000 of 5000 issued · the service asks to wait'));
    await bar.end();
  });

  it('says how far it has come, how fast it goes and what it waits for; every ten seconds where nothing may move', () => {
    vi.useFakeTimers({ now: NOW });
    try {
      const { io, printed } = fakeIo({ terminal: { stderr: true } });
      const settings = readSettings({ progress: false, color: false }, io);
      const bar = showBar('created', 500, settings, { ...io, now: Date.now });
      for (let done = 0; done < 100; done++) bar.add(done >= 3);
      vi.advanceTimersByTime(10_500);
      bar.add(false);
      for (let more = 0; more < 399; more++) bar.add(true);
      bar.waiting(14_200);
      vi.advanceTimersByTime(10_000);
      expect(printed.stderr).toBe(
        '100 of 500 created · 3 failed · 10/s · 40s left\n' +
          '500 of 500 created · 4 failed · the service asks to wait 5 seconds\n',
      );
    } finally {
      vi.useRealTimers();
    }
  });
});
