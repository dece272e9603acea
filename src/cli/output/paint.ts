const colors = ['dim', 'bold', 'green', 'red', 'yellow', 'cyan'] as const;

/** Colours, or none: each gives the text back, painted or plain. */
export type Paint = Readonly<Record<(typeof colors)[number], (text: string) => string>>;

/** chalk is loaded only when there is something to paint. */
export async function createPaint(enabled: boolean): Promise<Paint> {
  if (!enabled) return plain;
  const { Chalk } = await import('chalk');
  return new Chalk({ level: 1 });
}

const same = (text: string): string => text;

export const plain: Paint = { dim: same, bold: same, green: same, red: same, yellow: same, cyan: same };
