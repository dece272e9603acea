import type { Files } from './checkout.ts';

/** A defect, and the part of the gate that must find it. */
export interface Plant {
  readonly title: string;
  readonly files: Files;
  readonly env?: Readonly<Record<string, string>>;
  readonly command: readonly string[];
  /** Matches the output of this failure, and of no other. */
  readonly says: RegExp;
}

/** A part of the gate, which must pass without a defect. */
export interface Control {
  readonly title: string;
  readonly files?: Files;
  readonly command: readonly string[];
}

const script = (name: string, ...args: string[]): readonly string[] => ['npm', 'run', '--silent', name, '--', ...args];

const test = (body: string): string => `import { beforeAll, expect, it } from 'vitest';\n${body}\n`;

const unit = 'test/domain/planted.test.ts';
const engines = 'test/store/planted.test.ts';

/** Enough sequences to find each defect. */
const model = ['node', 'test/model/index.ts', '--engine', 'sqlite', '--sequences', '200', '--seed', '12'];

/** Replaces texts; throws if one is not there. */
const swap =
  (...changes: readonly (readonly [before: string, after: string])[]) =>
  (old: string): string =>
    changes.reduce((text, [before, after]) => {
      if (!text.includes(before)) throw new Error(`nothing to plant in: ${before}`);
      return text.replaceAll(before, after);
    }, old);

/** Defects in the rules, each of which random sequences beside the model must find. */
const modelPlants: readonly Plant[] = (
  [
    [
      'a slot that is not freed',
      'src/service/slots.ts',
      swap(['license.activations - devices.length', 'license.activations - 0 * devices.length']),
    ],
    [
      'a lease that lasts a millisecond longer',
      'src/store/tables/sessions.ts',
      swap(['expires_at <= ', 'expires_at < '], ['expires_at > ', 'expires_at >= ']),
    ],
    [
      'a licence that lasts a millisecond longer',
      'src/domain/license.ts',
      swap(['now < expirationDate', 'now <= expirationDate']),
    ],
    [
      'a renewal that forgets the time that is left',
      'src/service/keys/changes.ts',
      swap(["from === 'later' && end >= now", "from === 'later' && end < now"]),
    ],
    [
      'an earlier key that works longer than the key that replaced it',
      'src/store/tables/keys/previous-keys.ts',
      swap(['and license_id = ', 'and 1 = 0 and license_id = ']),
    ],
    [
      'a use that leaves no day',
      'src/service/slots.ts',
      swap(['license.lastSeenOn !== today', 'license.lastSeenOn === today']),
    ],
  ] as const
).map(([title, file, plant]) => ({
  title,
  files: { [file]: plant },
  command: model,
  says: /^SQLite: \d+ sequences, seed \d+, .*FAILED$/m,
}));

export const controls: readonly Control[] = [
  { title: 'lint', command: script('lint') },
  { title: 'types', command: script('types') },
  { title: 'unused', command: script('unused') },
  {
    title: 'tests with and without PostgreSQL',
    files: { [unit]: test(`it('passes', () => expect(1).toBe(1));`), [engines]: test(`it('passes', () => {});`) },
    command: script('test:all', unit, engines),
  },
  { title: 'the README', command: script('test', 'test/readme.test.ts') },
  { title: 'random sequences beside the model', command: model },
];

export const plants: readonly Plant[] = [
  {
    title: 'a failing test',
    files: { [unit]: test(`it('fails', () => expect(1).toBe(2));`) },
    command: script('test', unit),
    says: /1 failed/,
  },
  {
    title: 'a failing test beside a PostgreSQL server',
    files: { [engines]: test(`it('fails', () => expect(1).toBe(2));`) },
    command: script('test:all', engines),
    says: /1 failed/,
  },
  {
    title: 'a hook that fails before a test',
    files: {
      [unit]: test(`beforeAll(() => { throw new Error('planted'); });\nit('passes', () => expect(1).toBe(1));`),
    },
    command: script('test', unit),
    says: /planted/,
  },
  {
    title: 'a setup of the run that fails',
    files: { 'test/support/temporary-folder.ts': `export default () => { throw new Error('planted'); };\n` },
    command: script('test', 'test/domain'),
    says: /planted/,
  },
  {
    title: 'a PostgreSQL server that cannot be used',
    files: {},
    env: { LKM_TEST_POSTGRES: 'postgres://nobody@127.0.0.1:1/postgres' },
    command: script('test:all', 'test/store'),
    says: /^the server of LKM_TEST_POSTGRES cannot be used: [^\n]*ECONNREFUSED[^\n]*\n$/m,
  },
  {
    title: 'a rejection that no test handles',
    files: { [unit]: test(`it('passes', () => { void Promise.reject(new Error('planted')); });`) },
    command: script('test', unit),
    says: /planted/,
  },
  {
    title: 'a type error',
    files: { 'test/planted.ts': `export const planted: number = 'one';\n` },
    command: script('types'),
    says: /planted\.ts\(1,14\): error TS2322/,
  },
  {
    title: 'a lint error',
    files: { 'test/planted.ts': `export const planted: any = 1;\n` },
    command: script('lint'),
    says: /noExplicitAny/,
  },
  {
    title: 'an import against the layers',
    files: { 'src/domain/planted.ts': `import '../store/store.ts';\n` },
    command: script('lint'),
    says: /noRestrictedImports/,
  },
  {
    title: 'an unused export',
    files: { 'test/support/world.ts': (old) => `${old}\nexport const planted = 1;\n` },
    command: script('unused'),
    says: /planted/,
  },
  {
    title: 'a README block that shows what is not printed',
    files: { 'README.md': (old) => old.replace('\nfreed build-01\n', '\nplanted\n') },
    command: script('test', 'test/readme.test.ts'),
    says: /planted/,
  },
  ...modelPlants,
];
