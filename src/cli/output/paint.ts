import { styleText } from 'node:util';
import type { Io, Output } from '../io.ts';

type Style = 'dim' | 'bold' | 'green' | 'red' | 'yellow' | 'cyan';

/** Colours, or none: each function returns the text, coloured or as it is. */
export type Paint = Readonly<Record<Style, (text: string) => string>>;

export const createPaint = (enabled: boolean): Paint => (enabled ? colored : plain);

/** Whether a stream takes colours where no flag says so. */
export function takesColor(env: Io['env'], { isTTY }: Pick<Output, 'isTTY'>): boolean {
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR && env.FORCE_COLOR !== '0') return true;
  return isTTY && env.TERM !== 'dumb';
}

const style = (name: Style) => (text: string) => styleText(name, text, { validateStream: false });

const colored: Paint = {
  dim: style('dim'),
  bold: style('bold'),
  green: style('green'),
  red: style('red'),
  yellow: style('yellow'),
  cyan: style('cyan'),
};

const same = (text: string): string => text;

export const plain: Paint = { dim: same, bold: same, green: same, red: same, yellow: same, cyan: same };
