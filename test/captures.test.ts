import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { COLUMNS, scenes, screenOf } from '../tools/capture/screens.ts';
import { themes, toSvg } from '../tools/capture/svg.ts';
import { hasProgram } from './support/terminal.ts';

describe.runIf(hasProgram('tmux'))('docs/captures', () => {
  it.each(Object.entries(scenes))('shows %s as a terminal does: else npm run docs:capture', async (name, scene) => {
    const screen = await screenOf(scene);
    for (const [theme, colors] of Object.entries(themes)) {
      const drawn = readFileSync(`docs/captures/${name}-${theme}.svg`, 'utf8');
      expect(stable(textOf(drawn))).toBe(stable(textOf(toSvg(screen, COLUMNS, colors))));
    }
  });
});

/** The text in a picture. */
const textOf = (svg: string): string =>
  [...svg.matchAll(/<text [^>]*>(.*)<\/text>/g)]
    .map(([, line = '']) =>
      line
        .replaceAll(/<[^>]*>/g, '')
        .replaceAll('&lt;', '<')
        .replaceAll('&gt;', '>')
        .replaceAll('&amp;', '&'),
    )
    .join('\n');

/** A screen without what differs each time: keys, ids, runs, times. */
const stable = (text: string): string =>
  text
    .replaceAll(/\b[0-9A-Z]{5}(-[0-9A-Z]{5}){4}\b/g, 'KEY')
    .replaceAll(/\b(prod|cus|fil|lic)_[0-9a-z]{26}\b/g, '$1_ID')
    .replaceAll(/\b(run |(?<=\n))[0-9a-hjkmnp-tv-z]{12}\b/g, '$1RUN')
    .replaceAll(/\brun of \d{2}:\d{2} UTC/g, 'run of WHEN')
    .replaceAll(
      /(\d{4}-\d{2}-\d{2} \d{2}:\d{2} UTC|\(?\b(in )?\d+ (day|hour|month|minute|year)s?( ago)?\)?|just now|in a moment)/g,
      'WHEN',
    )
    .replaceAll(/ +/g, ' ');
