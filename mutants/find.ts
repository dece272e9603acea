import { hash } from 'node:crypto';
import { type Node, parseSync, visitorKeys } from 'oxc-parser';
import { createRandom } from '../faults/random.ts';
import { type Edit, editsOf } from './operators.ts';

/** A source file with one change. */
export interface Mutant extends Omit<Edit, 'site'> {
  /** Made from the file's text and the change. */
  readonly id: string;
  /** Relative to the checkout. */
  readonly file: string;
  readonly line: number;
  /** What is changed, and the line that it stands in. */
  readonly before: string;
  readonly code: string;
  readonly site: { readonly start: number; readonly end: number };
}

/** Every mutant of one file. */
export function findMutants(file: string, source: string): Mutant[] {
  const { program, errors } = parseSync(file, source, { preserveParens: false });
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`);
  const found: Mutant[] = [];
  walk(program, null, '', (node, parent, key) => {
    for (const { site, ...edit } of editsOf(node, parent, key, source)) {
      const id = hash('sha256', JSON.stringify([source, edit])).slice(0, 12);
      const line = source.slice(0, edit.start).split('\n').length;
      const code = (source.split('\n')[line - 1] ?? '').trim();
      const before = source.slice(edit.start, edit.end);
      found.push({ ...edit, id, file, line, before, code, site: { start: site.start, end: site.end } });
    }
  });
  return found;
}

/**
 * Chooses `count` mutants, the same ones for the same seed: each file has one at least, and larger files have more. The
 * first mutant of every line of a file comes before the second of any of its lines.
 */
export function sample(mutants: readonly Mutant[], count: number, seed: number): Mutant[] {
  const random = createRandom(seed);
  const shuffled = mutants.map((mutant) => ({ mutant, rank: random.below(2 ** 32) })).sort((a, b) => a.rank - b.rank);
  const queue = [...Map.groupBy(shuffled, ({ mutant }) => mutant.file).values()].flatMap((all) => {
    const lines = Map.groupBy(all, ({ mutant }) => mutant.line);
    const turns = [...lines.values()].flatMap((line) => line.map(({ mutant, rank }, turn) => ({ mutant, rank, turn })));
    // A mutant is due when its file has had fewer than its share; the first one of a file is due at once.
    return turns
      .sort((a, b) => a.turn - b.turn || a.rank - b.rank)
      .map(({ mutant }, index) => ({ mutant, due: index === 0 ? 0 : (index + 0.5) / all.length }));
  });
  const chosen = queue.sort((a, b) => a.due - b.due).slice(0, count);
  return chosen
    .map(({ mutant }) => mutant)
    .sort((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : a.start - b.start));
}

/** The source with the mutant's change. */
export function mutate(source: string, { start, end, text }: Pick<Mutant, 'start' | 'end' | 'text'>): string {
  return source.slice(0, start) + text + source.slice(end);
}

/** Types have no behaviour, and are passed over; what they are attached to has. */
const wrappers = ['TSAsExpression', 'TSSatisfiesExpression', 'TSNonNullExpression'];

function walk(
  node: Node,
  parent: Node | null,
  key: string,
  visit: (node: Node, parent: Node | null, key: string) => void,
): void {
  if (node.type.startsWith('TS') && !wrappers.includes(node.type)) return;
  visit(node, parent, key);
  for (const name of visitorKeys[node.type] ?? []) {
    const child = (node as unknown as Record<string, unknown>)[name];
    for (const one of Array.isArray(child) ? child : [child]) {
      if (isNode(one)) walk(one, node, name, visit);
    }
  }
}

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value;
