import { parseSync, Visitor } from 'oxc-parser';

/** The name of the global object that instrumented code reports to. */
export const RECORDER = '__lkmTrace';

/** What instrumented code calls. */
export interface Recorder {
  /** A function of a file begins. */
  call(file: string): void;
  /** A module begins to run its top-level code. */
  enter(): void;
  /** It has reached its last statement. */
  exit(): void;
}

/**
 * Inserts a report at the beginning of each function of a TypeScript module, and around the module's top-level code
 * unless that awaits something: other code then runs in between.
 */
export function instrument(file: string, source: string): string {
  const { program, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`);
  const report = `${RECORDER}.call(${JSON.stringify(file)})`;
  const insertions: (readonly [offset: number, text: string])[] = [];
  let depth = 0;
  let awaitsAtTop = false;
  const enter = (body: { type: string; start: number; end: number } | null) => {
    depth += 1;
    if (body === null) return;
    if (body.type === 'BlockStatement' || body.type === 'FunctionBody') insertions.push([body.start + 1, `${report};`]);
    else insertions.push([body.start, `(${report},`], [body.end, ')']);
  };
  const leave = () => {
    depth -= 1;
  };
  new Visitor({
    ArrowFunctionExpression: ({ body }) => enter(body),
    'ArrowFunctionExpression:exit': leave,
    FunctionDeclaration: ({ body }) => enter(body),
    'FunctionDeclaration:exit': leave,
    FunctionExpression: ({ body }) => enter(body),
    'FunctionExpression:exit': leave,
    AwaitExpression: () => {
      awaitsAtTop ||= depth === 0;
    },
  }).visit(program);
  const text = insertions
    .sort(([a], [b]) => b - a)
    .reduce((code, [offset, inserted]) => code.slice(0, offset) + inserted + code.slice(offset), source);
  return awaitsAtTop ? text : `${RECORDER}.enter();${text}\n${RECORDER}.exit();\n`;
}
