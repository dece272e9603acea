import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { COLUMNS, scenes, screenOf } from './screens.ts';
import { themes, toSvg } from './svg.ts';

// Draws the pictures of the terminal in docs/captures from a real one: `npm run docs:capture`. It needs tmux.

const folder = 'docs/captures';
mkdirSync(folder, { recursive: true });
for (const [name, scene] of Object.entries(scenes)) {
  const screen = await screenOf(scene);
  for (const [theme, colors] of Object.entries(themes)) {
    writeFileSync(join(folder, `${name}-${theme}.svg`), toSvg(screen, COLUMNS, colors));
  }
}
