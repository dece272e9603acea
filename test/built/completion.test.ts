import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { installed } from '../support/installed.ts';
import { hasProgram, Terminal } from '../support/terminal.ts';

const TAB = '\t';

/** A home with a database with a product. */
function furnish() {
  const place = installed({ LKM_DB: 'lkm.db', HISTFILE: '/dev/null' });
  return { ...place, product: place.lkm('products', 'create', '--name', 'Engine', '--create', '-q').trim() };
}

/** Texts that somebody else may have chosen as a key, each of which a shell would run, expand or divide. */
const planted = [
  `EVIL0;touch\${IFS}planted;aaaa`,
  `EVIL1$(touch\${IFS}planted)aaaaa`,
  `EVIL2\`touch\${IFS}planted\`aaaaa`,
  `EVIL3|touch\${IFS}planted|aaaaa`,
  `EVIL4&touch\${IFS}planted&aaaaa`,
  'EVIL5>planted>aaaaaaaaaaaaaaaa',
  `EVIL6'"(touch planted)"'aaaaaaa`,
  '-oEVIL8planted-aaaaaaaaaaaaaaa',
];

const PLAIN = 'EVIL9-PLAIN.KEY:IS@PLAIN+,/';

/** Keys of such texts, as a file of keys that move in. */
function plant(home: string, product: string, lkm: (...argv: string[]) => string): void {
  const rows = [...planted, PLAIN].map((key) => JSON.stringify({ productId: product, key }));
  writeFileSync(join(home, 'keys.jsonl'), rows.join('\n'));
  lkm('keys', 'import', '-f', join(home, 'keys.jsonl'), '-y', '-o', join(home, 'imported.csv'));
}

const shells = [
  {
    shell: 'bash',
    start: 'bash --norc --noprofile -i',
    prepare: () => {},
    ready: "PS1='ready> '; bind 'set enable-bracketed-paste off'; source <(lkm completion bash)\n",
  },
  {
    shell: 'zsh',
    start: 'zsh -i',
    prepare: (home: string) =>
      writeFileSync(
        join(home, '.zshrc'),
        "PS1='ready> '\nunsetopt zle_bracketed_paste PROMPT_SP\nautoload -Uz compinit && compinit -u -D\n",
      ),
    ready: 'source <(lkm completion zsh)\n',
  },
  {
    shell: 'fish',
    start: 'fish -i',
    prepare: (home: string, lkm: (...argv: string[]) => string) => {
      const folder = join(home, '.config', 'fish');
      mkdirSync(join(folder, 'completions'), { recursive: true });
      writeFileSync(
        join(folder, 'config.fish'),
        "set -g fish_greeting ''\nset -g fish_autosuggestion_enabled 0\nfunction fish_prompt\n  echo -n 'ready> '\nend\n",
      );
      writeFileSync(join(folder, 'completions', 'lkm.fish'), lkm('completion', 'fish'));
      // Without it, fish describes every manual page of this machine at its first start.
      mkdirSync(join(home, '.local', 'share', 'fish', 'generated_completions'), { recursive: true });
    },
    ready: '\n',
  },
];

describe.each(shells)('TAB in $shell', { timeout: 300_000 }, ({ shell, start, prepare, ready }) => {
  it.skipIf(!hasProgram(shell))('completes commands, options, values and products', async () => {
    const { home, env, lkm, product } = furnish();
    prepare(home, lkm);
    await using terminal = new Terminal(start, { cwd: home, env });
    terminal.type(ready);
    await terminal.until(/ready> $/);
    for (const [typed, shown] of [
      ['lkm ke', /keys $/],
      ['cr', /eate $/],
      ['--prod', /uct $/],
      ['', /Engine $/],
      ['--type fl', /oating $/],
    ] as const) {
      terminal.type(`${typed}${TAB}`);
      await terminal.until(shown);
    }
    terminal.type('\n');
    await terminal.until(/[0-9A-Z]{5}(-[0-9A-Z]{5}){4}.*ready> $/s);
    expect(lkm('products', 'list', '-q')).toBe(`${product}\n`);
    // Words that a shell may divide.
    for (const [line, rest] of [
      ['keys create --type=nod', 'e-locked'],
      ['keys create --reference a:b --ty', 'pe'],
      ['tokens create --base-url http://127.0.0.1:1 --kind sc', 'oped'],
      ['tokens create --scope license:si', 'gn'],
      ['tokens create --scope license:read,license:si', 'gn'],
    ]) {
      terminal.type('\u0015');
      await sleep(200);
      terminal.type(`lkm ${line}${TAB}`);
      await terminal.until(new RegExp(`${line}${rest} $`));
    }
  });

  it.skipIf(!hasProgram(shell))('completes names of several words, which the command understands', async () => {
    const { home, env, lkm } = furnish();
    lkm('customers', 'create', 'Müller & Söhne GmbH', '-q');
    lkm('customers', 'create', `Evil $(touch planted) Ltd`, '-q');
    lkm('customers', 'create', 'Evan Ltd', '-q');
    prepare(home, lkm);
    await using terminal = new Terminal(start, { cwd: home, env: { ...env, LANG: 'C.UTF-8' } });
    terminal.type(ready);
    await terminal.until(/ready> $/);
    for (const typed of ['M', '"Müller & S', 'Müller\\ \\&']) {
      terminal.type(`lkm customers get ${typed}${TAB}`);
      await terminal.until(/GmbH["']? $/);
      terminal.type(' --fields id,name --format csv\n');
      await terminal.until(/id,name\s+cus_\w+,Müller & Söhne GmbH[\s\S]*ready> $/);
    }
    terminal.type(`lkm customers get Ev${TAB}`);
    // The only name that is offered, so it is put in at once.
    expect(await terminal.until(/Ltd["']? $/)).not.toContain('touch');
  });

  it.skipIf(!hasProgram(shell))('offers no key that the shell would run, expand or divide', async () => {
    const { home, env, lkm, product } = furnish();
    plant(home, product, lkm);
    prepare(home, lkm);
    await using terminal = new Terminal(start, { cwd: home, env });
    terminal.type(ready);
    await terminal.until(/ready> $/);
    terminal.type(`lkm keys get EV${TAB}`);
    // The only one: it is put in at once, by fish with its own signs before what another shell takes as it is.
    expect(await terminal.until(/PLAIN[\\+,/]+ ?$/)).not.toContain('touch');
    terminal.type('\n');
    await terminal.until(/ready> $/);
    expect(readdirSync(home)).not.toContain('planted');
  });
});

it('lkm __complete offers what is one plain word in every shell, and nothing else', () => {
  const { lkm, home, product } = furnish();
  plant(home, product, lkm);
  const words = lkm('__complete', 'keys', 'get', '').split('\n');
  expect(words.map((line) => line.split('\t', 1)[0])).toEqual([PLAIN, '']);
});
