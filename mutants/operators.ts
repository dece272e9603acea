import type { Node } from 'oxc-parser';

/** One change of a source text. */
export interface Edit {
  readonly operator: string;
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** The expression whose evaluation the change touches. */
  readonly site: Node;
}

const swapped: Readonly<Record<string, string>> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '*': '/',
  '/': '*',
  '%': '*',
  '-': '+',
  '+': '-',
  '&&': '||',
  '||': '&&',
  '+=': '-=',
  '-=': '+=',
  '??=': '=',
};

const swappedMethods: Readonly<Record<string, string>> = {
  some: 'every',
  every: 'some',
  min: 'max',
  max: 'min',
  ceil: 'floor',
  floor: 'ceil',
  startsWith: 'endsWith',
  endsWith: 'startsWith',
};

/** Every change that is made to one node, without those of the nodes in it. `key` is its place in its parent. */
export function editsOf(node: Node, parent: Node | null, key: string, source: string): Edit[] {
  const replace = (operator: string, part: Node, text: string, site = part): Edit[] => [
    { operator, start: part.start, end: part.end, text, site },
  ];
  const textOf = (part: Node): string => source.slice(part.start, part.end);
  switch (node.type) {
    case 'IfStatement':
    case 'ConditionalExpression':
      return isComparison(node.test) ? [] : replace('condition', node.test, negated(node.test, textOf));
    case 'BinaryExpression':
    case 'LogicalExpression':
    case 'AssignmentExpression': {
      if (node.operator === '??') return replace('default', node, textOf(node.left as Node));
      const operator = swapped[node.operator];
      if (operator === undefined || (/[+]/.test(node.operator) && isText(node))) return [];
      if (parent?.type === 'ForStatement' && key === 'update') return [];
      const at = source.indexOf(node.operator, node.left.end);
      return [{ operator: 'operator', start: at, end: at + node.operator.length, text: operator, site: node }];
    }
    case 'UnaryExpression':
      if (node.operator === '-') return replace('sign', node, textOf(node.argument));
      if (node.operator !== '!' || key === 'test') return [];
      return replace('condition', node, `(${textOf(node.argument)})`);
    case 'ExpressionStatement':
      return isCall(node.expression) ? replace('statement', node.expression, 'undefined') : [];
    case 'ThrowStatement':
      return replace('statement', node, ';', node.argument);
    case 'ReturnStatement':
      return node.argument === null || isTrivial(node.argument) ? [] : replace('result', node.argument, 'undefined');
    case 'ArrowFunctionExpression':
      if (node.body.type === 'BlockStatement' || isTrivial(node.body)) return [];
      return replace('result', node.body, 'undefined');
    case 'ArrayExpression':
      return node.elements.length === 0 ? [] : replace('constant', node, '[]');
    case 'Literal':
      return literal(node, parent, key).flatMap((text) => replace('constant', node, text));
    case 'CallExpression': {
      const { callee } = node;
      if (callee.type !== 'MemberExpression' || callee.computed || callee.property.type !== 'Identifier') return [];
      const name = Object.hasOwn(swappedMethods, callee.property.name)
        ? swappedMethods[callee.property.name]
        : undefined;
      return name === undefined ? [] : replace('method', callee.property, name, node);
    }
    default:
      return [];
  }
}

function literal(node: Node, parent: Node | null, key: string): string[] {
  if (node.type !== 'Literal') return [];
  const isName =
    key === 'source' || ((key === 'key' || key === 'property') && !(parent as { computed?: boolean }).computed);
  if (isName || parent?.type === 'ExpressionStatement') return [];
  if (typeof node.value === 'boolean') return [String(!node.value)];
  if (typeof node.value === 'number') return [String(node.value + 1)];
  // A text with a space in it is for people; its wording is no behaviour.
  return typeof node.value === 'string' && /^\S+$/.test(node.value) ? [`''`] : [];
}

function negated(test: Node, textOf: (part: Node) => string): string {
  return test.type === 'UnaryExpression' && test.operator === '!' ? `(${textOf(test.argument)})` : `!(${textOf(test)})`;
}

const isComparison = (node: Node): boolean => node.type === 'BinaryExpression' && /^[!=]==$/.test(node.operator);

const isCall = (node: Node): boolean =>
  node.type === 'CallExpression' ||
  ((node.type === 'AwaitExpression' || (node.type === 'UnaryExpression' && node.operator === 'void')) &&
    isCall(node.argument));

/** Whether nothing, or what another operator changes, is returned. */
const isTrivial = (node: Node): boolean =>
  (node.type === 'Literal' && (node.value === null || typeof node.value === 'boolean')) ||
  (node.type === 'Identifier' && node.name === 'undefined') ||
  (node.type === 'UnaryExpression' && node.operator === 'void');

function isText(node: Node): boolean {
  if (node.type === 'TemplateLiteral') return true;
  if (node.type === 'Literal') return typeof node.value === 'string';
  return node.type === 'BinaryExpression' && (isText(node.left as Node) || isText(node.right));
}
