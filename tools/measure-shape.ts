import { posix } from 'node:path';
import { parseSync, Visitor } from 'oxc-parser';
import { cyclesOf } from './cycles.ts';

/** A source file; the path begins below src. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** Figures about source files, by their label. */
export function measureShape(files: readonly SourceFile[]): ReadonlyMap<string, string> {
  const lines = files.map(({ text }) => text.split('\n').length - 1).sort((a, b) => a - b);
  const folders = Map.groupBy(files, ({ path }) => posix.dirname(path));
  const [largest = ['', []]] = [...folders].sort(([, a], [, b]) => b.length - a.length);
  const parsed = files.map(parse);
  return new Map([
    ['files', String(files.length)],
    ['lines in all', String(lines.reduce((sum, count) => sum + count, 0))],
    ['lines of a file, median', String(quantile(lines, 0.5))],
    ['lines of a file, 90th percentile', String(quantile(lines, 0.9))],
    ['lines of the longest file', String(quantile(lines, 1))],
    ['files of at most 20 lines', String(lines.filter((count) => count <= 20).length)],
    ['files in the largest folder', `${largest[1].length} (${largest[0]})`],
    ['files at the top of cli', String(folders.get('cli')?.length ?? 0)],
    ['type assertions (as)', String(parsed.reduce((sum, { assertions }) => sum + assertions, 0))],
    ['import cycles', String(cyclesOf(graphOf(parsed, 'values')).length)],
    ['import cycles, types included', String(cyclesOf(graphOf(parsed, 'types')).length)],
  ]);
}

/** The smallest value that at least this share of the values do not exceed. */
function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
}

/** What is read from the syntax of one file. */
interface ParsedFile {
  readonly path: string;
  /** `as` expressions, but for `as const`. */
  readonly assertions: number;
  readonly imports: readonly { readonly path: string; readonly isType: boolean }[];
}

function parse({ path, text }: SourceFile): ParsedFile {
  const { program } = parseSync(path, text);
  let assertions = 0;
  const imports: { path: string; isType: boolean }[] = [];
  const addImport = (specifier: string, isType: boolean) => {
    if (specifier.startsWith('.')) imports.push({ path: posix.join(posix.dirname(path), specifier), isType });
  };
  new Visitor({
    TSAsExpression: ({ typeAnnotation }) => {
      if (text.slice(typeAnnotation.start, typeAnnotation.end) !== 'const') assertions += 1;
    },
    ImportDeclaration: ({ source, importKind }) => addImport(source.value, importKind === 'type'),
    ExportAllDeclaration: ({ source, exportKind }) => addImport(source.value, exportKind === 'type'),
    ExportNamedDeclaration: ({ source, exportKind }) => {
      if (source !== null) addImport(source.value, exportKind === 'type');
    },
  }).visit(program);
  return { path, assertions, imports };
}

function graphOf(files: readonly ParsedFile[], include: 'values' | 'types'): ReadonlyMap<string, readonly string[]> {
  const counts = ({ isType }: { readonly isType: boolean }) => include === 'types' || !isType;
  return new Map(files.map(({ path, imports }) => [path, imports.filter(counts).map((imported) => imported.path)]));
}
