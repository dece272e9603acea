import { describe, expect, it } from 'vitest';
import { installed } from '../support/installed.ts';

/** Runs a script in which `lkm` is the command, on a database with a product. */
async function shell(script: string) {
  const place = installed({ LKM_DB: 'lkm.db' });
  const product = place.lkm('products', 'create', '--name', 'Engine Pro', '-q', '--create').trim();
  return place.shell(script, { LKM_PRODUCT: product });
}

describe('an answer in a shell', { timeout: 180_000 }, () => {
  it('is given again when its reader was gone', async () => {
    const { stdout, stderr } = await shell(
      `lkm keys create 2>said | true; echo "code $PIPESTATUS"; cat said >&2
      again=$(sed -n 's/^warning:   //p' said); [ "$(eval "$again -q")" = "$(eval "$again -q")" ] && echo the same
      lkm keys list -q | wc -l; lkm keys create -q | wc -l; lkm keys list -q | wc -l`,
    );
    expect(stdout).toBe('code 0\nthe same\n1\n1\n2\n');
    expect(stderr).toContain('warning: the reader of stdout has gone without the answer');
  });

  it('has no place, and one line says so, when stdout cannot be written', async () => {
    const { stdout, stderr } = await shell(
      'lkm products list >/dev/full; echo $?; lkm products list </dev/null 1</dev/null; lkm --version >/dev/full; echo $?',
    );
    expect({ stdout, stderr }).toEqual({
      stdout: '13\n13\n',
      stderr: ['ENOSPC', 'EBADF', 'ENOSPC'].map((code) => `error: cannot write to stdout (${code})\n`).join(''),
    });
  });

  it('goes to a file as to a pipe, after what is there, and one line says when that cannot grow', async () => {
    const { stdout, stderr } = await shell(
      `echo before >all; lkm keys create >>all; lkm keys create >>all; wc -l <all
       lkm help formatting >file; lkm help formatting | cat >piped; cmp file piped && wc -l <file
       (ulimit -f 0; lkm --version >none; echo "code $?")`,
    );
    expect(stdout).toMatch(/^3\n[1-9]\d+\ncode 13\n$/);
    expect(stderr.split('\n').at(-2)).toBe('error: cannot write to stdout (EFBIG)');
  });

  it('is that of each row, when the database could not grow and can again', async () => {
    const { stdout, stderr } = await shell(
      `(ulimit -f 500; lkm keys create --count 1000 -q >some; echo "code $?")
       lkm keys create --count 1000 -q | sort -u | wc -l; lkm keys list -q | wc -l`,
    );
    // Whether the change on which it stopped was made depends on what could not grow.
    expect(stdout).toMatch(/^code (8|13)\n1000\n1000\n$/);
    expect(stderr).toMatch(/lkm\.db cannot be (read or )?written.*: the disk /);
  });

  it('is that of each key, when the file could not grow and can again', async () => {
    const { stdout, stderr } = await shell(
      `lkm serve --db lkm.db --port 0 --log-format none -- sh -c '(ulimit -f 8; lkm keys create --count 2000 -o keys.csv)
         echo "code $?"; lkm keys create --count 2000 -o keys.csv; wc -l <keys.csv; lkm keys list -q | wc -l'`,
    );
    expect(stdout).toBe('code 13\n2001\n2000\n');
    expect(stderr).toMatch(
      /^warning: stopped: issued [1-9]\d+ of 2000 keys\nwarning: the same command goes on\nerror: cannot write keys\.csv \(EFBIG\)\n/m,
    );
  });

  it('needs no stderr', async () => {
    const { stdout } = await shell(
      'lkm keys create 2>/dev/full | wc -l; lkm keys create 2</dev/null | wc -l; lkm keys nonsense 2>/dev/full; echo $?',
    );
    expect(stdout).toBe('1\n1\n2\n');
  });
});

it.each(['1', ''])('NO_COLOR=%j leaves an error in JSON alone on stderr, also with FORCE_COLOR', async (NO_COLOR) => {
  const { shell } = installed({ LKM_TOKEN: 't', NO_COLOR, FORCE_COLOR: '1' });
  const { stderr } = await shell('lkm customers delete cus_1 --json --base-url http://127.0.0.1:1 || true');
  expect(JSON.parse(stderr).error.exitCode).toBe(3);
});
