import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { locate, withoutPassword, withoutPasswords } from '../../src/cli/config/location.ts';
import { duration, relative } from '../../src/cli/output/words.ts';
import { parseDuration } from '../../src/cli/values/duration.ts';
import { parseAnyEnd, parseInstant, parseStart, readExpiry } from '../../src/cli/values/instant.ts';
import { parseFeature, parseLimit } from '../../src/cli/values/scalars.ts';
import { NOW } from './fake-io.ts';

const clock = { now: () => NOW };

describe('what people write', () => {
  it.each([
    ['90s', 90_000],
    ['15m', 900_000],
    ['0s', 0],
    ['2w', 14 * 86_400_000],
    ['1y6mo', (365 + 180) * 86_400_000],
    ['P1Y6M', (365 + 180) * 86_400_000],
    ['P2WT1H', (14 * 24 + 1) * 3_600_000],
    ['1y6m3d', (365 + 183) * 86_400_000],
    ['1y6min', 365 * 86_400_000 + 360_000],
    ['1 year', 365 * 86_400_000],
    ['in 2 weeks', 14 * 86_400_000],
    ['a year and 6 months', (365 + 180) * 86_400_000],
    ['30days', 30 * 86_400_000],
    ['1w2d3h4min5s', 9 * 86_400_000 + 3 * 3_600_000 + 245_000],
  ])('%s is a duration', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each(['', '5', '1.5h', '-1d', '1 d', '9999999999s', '1d1d', '1d1y', 'd', '6mon', '1m1mo'])(
    "'%s' is no duration",
    (text) => {
      expect(() => parseDuration(text)).toThrow('is not a duration');
    },
  );

  it.each([
    ['2028-02-29', '2028-02-29T23:59:59.000Z'],
    ['2026-11-21', '2026-11-21T23:59:59.000Z'],
    ['2027-12-31T18:00+02:00', '2027-12-31T16:00:00.000Z'],
    ['30d', '2026-12-21T23:59:59.000Z'],
    ['0d', '2026-11-21T23:59:59.000Z'],
    ['12h', '2026-11-22T00:00:00.000Z'],
    ['never', null],
    ['3mo', '2027-02-21T23:59:59.000Z'],
    ['1y6m', '2028-05-21T23:59:59.000Z'],
    ['1d12h', '2026-11-23T00:00:00.000Z'],
    ['forever', null],
    ['31.12.2027', '2027-12-31T23:59:59.000Z'],
    ['2027/12/31', '2027-12-31T23:59:59.000Z'],
    ['20271231', '2027-12-31T23:59:59.000Z'],
    ['12/31/2027', '2027-12-31T23:59:59.000Z'],
    ['31 Dec 2027', '2027-12-31T23:59:59.000Z'],
    ['December 31, 2027', '2027-12-31T23:59:59.000Z'],
    ['tomorrow', '2026-11-22T23:59:59.000Z'],
    ['2027-12-31 10:00 UTC', '2027-12-31T10:00:00.000Z'],
    ['2027-12-31 10:00:30 +0200', '2027-12-31T08:00:30.000Z'],
    ['1 year', '2027-11-21T23:59:59.000Z'],
  ])('%s is an expiry', (text, expected) => {
    expect(readExpiry(text, clock)).toBe(expected);
  });

  it.each([
    ['2027-01-31', '1mo', '2027-02-28T23:59:59.000Z'],
    ['2028-02-29', '1y', '2029-02-28T23:59:59.000Z'],
    ['2027-03-01', '1y', '2028-03-01T23:59:59.000Z'],
  ])('from %s, %s ends on the day that the calendar has: %s', (day, text, expected) => {
    expect(readExpiry(text, { now: () => Date.parse(`${day}T12:00:00Z`) })).toBe(expected);
  });

  it.each([
    ...[
      '2027-02-29',
      '2027-13-01',
      '31.13.2027',
      'someday',
      '2027-12-31T18:00:00',
      '2027-12-31 18:00',
      '',
      '2027-02-31T00:00:00Z',
      '2027',
      '2027-12',
    ].map((text) => [text, 'is not a date']),
    ...['2027-12-31T24:00:00Z', '2027-12-31T18:60:00Z'].map((text) => [text, 'is not a date']),
    ...['300000y', '999999999y', '999999999mo', '99999999d', '9999-12-31T23:59:59-14:00'].map((text) => [
      text,
      'expires after the year 9999',
    ]),
    ['2026-11-20', 'is in the past'],
    ['03/04/2027', 'can mean two days: write 2027-04-03 or 2027-03-04'],
    ['6m', 'can mean months or minutes: write 6mo or 6min'],
  ])("'%s' is no expiry: it %s", (text, why) => {
    expect(() => readExpiry(text, clock)).toThrow(`'${text}' ${why}`);
  });

  it.each([parseInstant, parseAnyEnd, parseStart])(
    'no instant is on a day or at an hour that does not exist',
    (parse) => {
      for (const text of ['2027-02-31T00:00:00Z', '2027-12-31T24:00:00Z']) {
        expect(() => parse(text)).toThrow(`'${text}' is not a`);
      }
    },
  );

  it('a limit is a whole number or unlimited', () => {
    expect(['5', 'unlimited'].map(parseLimit)).toEqual([5, null]);
    for (const text of ['-1', '0', '1e3', '٣', 'none', ''])
      expect(() => parseLimit(text)).toThrow('is neither a whole');
  });

  it.each([
    ['export', ['export', true]],
    ['export=false', ['export', false]],
    ['cores=8', ['cores', 8]],
    ['tier=pro=max', ['tier', 'pro=max']],
    ['note=', ['note', '']],
    ['id=12345678901234567890', ['id', '12345678901234567890']],
  ])('%s is a feature', (text, expected) => {
    expect(parseFeature(text)).toEqual(expected);
  });
});

describe('the location of a database', () => {
  it.each([
    ['mysql://root:secret@db.example/lkm', 'mysql:'],
    ['POSTGRES://lkm:secret@db.example/lkm', 'POSTGRES:'],
    ['postgre://lkm:secret@db.example/lkm', 'postgre:'],
    ['"postgres://lkm:secret@db.example/lkm"', '"postgres:'],
    ['jdbc:postgresql://db.example/lkm?password=secret', 'jdbc:'],
    ['postgres:/lkm:secret@db.example/lkm', 'postgres:'],
    ['sqlite:///srv/secret.db', 'sqlite:'],
    ['sqlite:secret.db', 'sqlite:'],
    ['file:secret.db?mode=ro', 'file:'],
    [':memory:', ':memory:'],
  ])('is no file of the name %s', (text, start) => {
    const refused = expect(() => locate(text, { cwd: '/' }));
    refused.toThrow(`a database is a path or postgres://…, and '${start}' begins neither`);
  });

  it.each(['lkm.db', 'a:b/lkm.db', './file:x.db', 'C:\\lkm.db', '/srv/x:y/lkm.db', 'memory'])('may be %s', (text) => {
    expect(locate(text, { cwd: '/' })).toBe(resolve('/', text));
  });

  it.each([
    ['lkm.db', '/home/ada/lkm.db'],
    ['/srv/lkm.db', '/srv/lkm.db'],
    ['postgres.db', '/home/ada/postgres.db'],
    ['postgres:lkm.db', '/home/ada/postgres:lkm.db'],
    ['postgres://h/shop', 'postgres://h/shop'],
    ['postgresql://u:p@h/shop', 'postgresql://u:p@h/shop'],
  ])('%s is %s', (text, expected) => {
    expect(locate(text, { cwd: '/home/ada' })).toBe(expected);
  });

  it.each([
    ['/srv/lkm.db', '/srv/lkm.db'],
    ['postgres://h:5433/shop', 'postgres://h:5433/shop'],
    ['postgres://u@h/shop?sslmode=require', 'postgres://u@h/shop?sslmode=require'],
    ['postgres://u:secret@h:5433/shop', 'postgres://u@h:5433/shop'],
    ['postgres://u:se%2Fcret%40@h/shop', 'postgres://u@h/shop'],
    ['postgres://u:sec@ret@h/shop', 'postgres://u@h/shop'],
    ['postgres://u:secret@/shop?host=/run/pg', 'postgres://u@/shop?host=%2Frun%2Fpg'],
    ['postgres://h/shop?user=u&password=secret&sslpassword=secret', 'postgres://h/shop?user=u'],
    [
      'postgres://u:sec,ret@one:5432,two:5433/shop?target_session_attrs=read-write',
      'postgres://u@one:5432,two:5433/shop?target_session_attrs=read-write',
    ],
    ['postgres://u:secret@[::1]:5432,[::2]/shop', 'postgres://u@[::1]:5432,[::2]/shop'],
  ])('%s is shown as %s', (location, expected) => {
    expect(withoutPassword(location)).toBe(expected);
    expect(withoutPasswords(`cannot open '${location}': no`)).toBe(`cannot open '${expected}': no`);
  });

  it('an address of a service is shown without the name and the password in it', () => {
    expect(withoutPasswords("no 'https://u:secret@h/x@y', nor http://u:s@c@h:80/")).toBe(
      "no 'https://h/x@y', nor http://h:80/",
    );
  });

  it.each(['u:sec/ret@h', 'u:12/ret@h', 'u:sec#ret@h', 'u:12#ret@h', 'u:12?ret@h', 'u:s@12/ret@h', 'u:secret@no host'])(
    'postgres://%s/shop is neither shown nor used: the password ends nobody knows where',
    (rest) => {
      const location = `postgres://${rest}/shop`;
      expect(withoutPassword(location)).toBe('postgres://…');
      expect(() => locate(location, { cwd: '/' })).toThrow('the address of the database cannot be read');
    },
  );
});

describe('what people read', () => {
  it.each([
    [-30, 'just now'],
    [30, 'in a moment'],
    [-60, '1 minute ago'],
    [7_200, 'in 2 hours'],
    [30 * 86_400 - 600, 'in 1 month'],
    [30 * 86_400 - 7_200, 'in 29 days'],
    [-86_400 + 1, '23 hours ago'],
    [-86_400, '1 day ago'],
    [365 * 86_400, 'in 12 months'],
    [-3 * 365 * 86_400, '3 years ago'],
  ])('%d seconds from now is %s', (seconds, expected) => {
    expect(relative(new Date(NOW + seconds * 1000).toISOString(), NOW)).toBe(expected);
  });

  it.each([
    [300, '5 minutes'],
    [86_400, '1 day'],
    [90, '90 seconds'],
  ])('%d seconds last %s', (seconds, expected) => {
    expect(duration(seconds)).toBe(expected);
  });
});
