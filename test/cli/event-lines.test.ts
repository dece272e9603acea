import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { eventLines } from '../../src/cli/commands/events-and-audit/lines.ts';
import { createPaint, plain } from '../../src/cli/output/terminal.ts';
import { type Event, eventTypes } from '../../src/contract/events.ts';
import { NOW } from './fake-io.ts';

const idOf = (prefix: string) => `${prefix}_01jd7q5d2m4xw8a6r1b0y7n9c3`;

const example = {
  ...{ id: idOf('evt'), seq: 1, api_version: '2026-11-21', created_at: '2026-11-21T09:08:07.654Z' },
  ...{ type: 'customer.created', resource_type: 'customer', resource_id: idOf('cus'), request_id: null, address: null },
  ...{ actor: { type: 'token', id: idOf('tok') }, tokenName: 'shop', data: {} },
} as unknown as Event;

const hostile = '\u001b[31m漢'.repeat(99);

/** Makes lines for a terminal of a width. */
function terminal({ columns = 80, paint = plain } = {}) {
  const line = eventLines();
  const view = { columns, now: NOW, paint };
  return (event: object, sent?: Parameters<typeof line>[2]) => line({ ...example, ...event }, view, sent);
}

describe('the line of an event', () => {
  it('says when, what, to what and by whom, in columns below the day', async () => {
    const line = terminal();
    const key = '*****-*****-*****-*****-85SB5';
    const lines = [
      await line({}),
      await line({
        type: 'license.signed',
        data: { key, hostId: 'build-01' },
        actor: { type: 'owner', id: 'acc_1' },
        tokenName: null,
      }),
      await line({
        type: 'session.expired',
        resource_id: idOf('ses'),
        actor: { type: 'job', id: 'leases' },
        tokenName: null,
      }),
      await line({ type: 'device.activated', data: { hostId: 'build-01' }, created_at: '2026-11-22T00:00:00.000Z' }),
    ];
    expect(lines.join('')).toBe(
      [
        '2026-11-21 UTC',
        '09:08:07  customer.created       cus_01jd7q5d2m4xw8a6r1b0y7n9c3   shop',
        '09:08:07  license.signed         …85SB5 build-01                  owner',
        '09:08:07  session.expired        ses_01jd7q5d2m4xw8a6r1b0y7n9c3   leases',
        '2026-11-22 UTC',
        '00:00:00  device.activated       build-01                         shop',
        '',
      ].join('\n'),
    );
  });

  it('says how it was taken where it was sent to, and below why not where a status does not', async () => {
    const line = terminal();
    const lines = [
      await line({}, { status: 204, durationMs: 3, error: null }),
      await line({}, { status: 500, durationMs: 15_000, error: 'answered 500' }),
      await line({}, { status: null, durationMs: 3, error: 'connection refused' }),
    ];
    expect(lines.join('')).toBe(
      [
        '2026-11-21 UTC',
        '09:08:07  customer.created       204 3 ms      cus_01jd7q5d2m4xw8a6r1b0y7n9c3',
        '09:08:07  customer.created       500 15000 ms  cus_01jd7q5d2m4xw8a6r1b0y7n9c3',
        '09:08:07  customer.created       failed        cus_01jd7q5d2m4xw8a6r1b0y7n9c3',
        '          connection refused',
        '',
      ].join('\n'),
    );
  });

  it.each([80, 82, 120])(
    'fits %i columns, whatever it is about, and cuts no id but that of a signing key',
    async (columns) => {
      const line = terminal({ columns });
      for (const sent of [undefined, { status: 204, durationMs: 15_000, error: null }]) {
        for (const type of eventTypes) {
          const text = await line({ type, resource_id: idOf('prod'), tokenName: undefined }, sent);
          expect(text).toContain(`${type} `);
          expect(text).toContain(` ${idOf('prod')}`);
          expect(text).toMatch(/ (prod_\w{26}|token|tok_\w{26})\n$/);
        }
        const long = await line(
          { type: 'later.type_of_another_service', data: { hostId: hostile }, tokenName: undefined },
          sent,
        );
        expect(long).not.toContain('\u001b');
        for (const part of long.split('\n')) expect(stringWidth(part)).toBeLessThanOrEqual(columns);
      }
    },
  );

  it('cuts a long name of a token, and shows controls in it', async () => {
    const text = await terminal()({ tokenName: hostile });
    expect(text).toMatch(/cus_\w{26} {3}\\u\{1b\}\[31m漢\\…\n$/);
  });

  it('has a color for its kind', async () => {
    const line = terminal({ paint: createPaint(true) });
    const colors = {
      31: 'license.blocked',
      32: 'license.unblocked',
      33: 'license.limit_reached',
      36: 'license.updated',
    };
    for (const [code, type] of Object.entries(colors)) {
      expect(await line({ type })).toContain(`\u001b[${code}m${type}\u001b[39m`);
    }
    expect(await line({}, { status: 204, durationMs: 3, error: null })).toContain('\u001b[32m204 3 ms\u001b[39m');
    expect(await line({}, { status: 500, durationMs: 3, error: 'answered 500' })).toContain('\u001b[31m500 3 ms');
  });
});
