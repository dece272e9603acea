import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
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
