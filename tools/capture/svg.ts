/** Colours by the numbers of SGR: 0 is the text, 2 dim text, 40 the ground. */
export const themes: Readonly<Record<string, Readonly<Record<number, string>>>> = {
  light: { 0: '#24292f', 2: '#6e7781', 31: '#cf222e', 32: '#116329', 33: '#7d4e00', 36: '#0a6c74', 40: '#ffffff' },
  dark: { 0: '#e6edf3', 2: '#8b949e', 31: '#ff7b72', 32: '#7ee787', 33: '#e3b341', 36: '#76e3ea', 40: '#0d1117' },
};

type Theme = (typeof themes)[string];

const CELL = { width: 8.4, height: 19 };
const MARGIN = 16;

/** Draws what a terminal shows, with its colours, as a picture of so many columns. */
export function toSvg(screen: string, columns: number, theme: Theme): string {
  const lines = screen.replace(/\s+$/, '').split('\n');
  const width = Math.ceil(columns * CELL.width + 2 * MARGIN);
  const height = Math.ceil(lines.length * CELL.height + 2 * MARGIN);
  // A style that a line opens holds on the next until it is closed: tmux writes only what changes.
  let style = unstyled;
  const rows = lines.map((line, at) => {
    const [first = '', ...others] = line.split('\u001b[');
    const spans = [span(first, style, theme)];
    for (const part of others) {
      const [, codes = '', text = ''] = /^([\d;]*)m(.*)$/.exec(part) ?? [];
      style = codes.split(';').map(Number).reduce(changed, style);
      spans.push(span(text, style, theme));
    }
    const y = MARGIN + (at + 0.75) * CELL.height;
    return `<text x="${MARGIN}" y="${y.toFixed(1)}" xml:space="preserve">${spans.join('')}</text>\n`;
  });
  const font = 'font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,monospace" font-size="14"';
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">
<title>lkm in a terminal</title>
<rect width="100%" height="100%" rx="8" fill="${theme[40]}"/>
<g ${font} fill="${theme[0]}">
${rows.join('')}</g>
</svg>
`;
}

const unstyled = { bold: false, dim: false, color: null as number | null };

function changed(style: typeof unstyled, code: number): typeof unstyled {
  if (code === 0) return unstyled;
  if (code === 1) return { ...style, bold: true };
  if (code === 2) return { ...style, dim: true };
  if (code === 22) return { ...style, bold: false, dim: false };
  if (code === 39) return { ...style, color: null };
  return code >= 30 && code <= 37 ? { ...style, color: code } : style;
}

function span(text: string, { bold, dim, color }: typeof unstyled, theme: Theme): string {
  const fill = theme[color ?? (dim ? 2 : -1)];
  const attributes = [...(fill ? [` fill="${fill}"`] : []), ...(bold ? [' font-weight="bold"'] : [])].join('');
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return attributes === '' || text === '' ? escaped : `<tspan${attributes}>${escaped}</tspan>`;
}
