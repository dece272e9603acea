import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { scenes, screenOf, stable } from '../tools/capture/screens.ts';
import { textOf, themes, toSvg } from '../tools/capture/svg.ts';
import { hasProgram } from './support/terminal.ts';

describe.runIf(hasProgram('tmux'))('docs/captures', () => {
  it.each(Object.entries(scenes))('shows %s as a terminal does: else npm run docs:capture', async (name, scene) => {
    const screen = await screenOf(scene);
    for (const [theme, colors] of Object.entries(themes)) {
      const drawn = readFileSync(`docs/captures/${name}-${theme}.svg`, 'utf8');
      expect(stable(textOf(drawn))).toBe(stable(textOf(toSvg(screen, scene.columns, colors))));
    }
  });
});

describe('a terminal that cannot be had', () => {
  it('leaves neither the server of its demonstration data nor its folder', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'lkm-no-tmux-'));
    vi.stubEnv('PATH', folder);
    vi.stubEnv('TMPDIR', folder);
    await expect(screenOf(scenes.stats)).rejects.toThrow('spawnSync tmux ENOENT');
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('a picture', () => {
  it('has the text of the screen, its colours, and nothing that could be read as markup', () => {
    const svg = toSvg(
      'a <b> & \u001b[31mred\u001b[39m \u001b[1;36mx\u001b[0m \u001b[2mdim\u001b[0m\n\n',
      20,
      themes.dark,
    );
    expect(textOf(svg)).toBe('a <b> & red x dim');
    expect(svg).toContain('a &lt;b&gt; &amp; <tspan fill="#ff7b72">red</tspan>');
    expect(svg).toContain('<tspan fill="#76e3ea" font-weight="bold">x</tspan> <tspan fill="#8b949e">dim</tspan>');
  });

  it('keeps the style that a line has opened on the lines after it', () => {
    const svg = toSvg('\u001b[2mone\ntwo\u001b[0m\nthree', 20, themes.dark);
    expect(svg).toContain('<tspan fill="#8b949e">one</tspan></text>');
    expect(svg).toContain('<tspan fill="#8b949e">two</tspan></text>');
    expect(svg).toContain('>three</text>');
  });
});
