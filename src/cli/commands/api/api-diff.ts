import { argument, command } from '../../command.ts';
import { exitCodes, LocalError, verdictExitCodes } from '../../failure/errors.ts';
import type { Io } from '../../io.ts';
import { count } from '../../output/words.ts';
import { readText } from '../../values/files.ts';

export const apiDiff = command({
  path: 'api-diff',
  about:
    'Compares two OpenAPI documents of the service and says which changes break clients of the old one: an operation or a ' +
    'field that is gone, a request that has to fulfil more, a reply of another form. Fields that replies gain break ' +
    'nothing. Exit code 1 when there is a breaking change.',
  arguments: {
    old: argument('<OLD>', 'the document that clients were made for, a file or -'),
    new: argument('<NEW>', 'the one that comes after it'),
  },
  options: {},
  fields: [{ name: 'kind' }, { name: 'operation' }, { name: 'change' }],
  examples: [
    ['lkm api-diff before.json after.json', 'what has changed'],
    ['curl -s "$URL/openapi.json" | lkm api-diff old.json -', 'before a client is made anew'],
  ],

  async run(values, { io }) {
    const { compareApis } = await import('../../../contract/openapi/diff.ts');
    const all = compareApis(await readDocument(values.old, io), await readDocument(values.new, io));
    const changes = all.toSorted((one, other) => Number(other.breaking) - Number(one.breaking));
    const rows = changes.map(({ breaking, operation, change }) => ({
      kind: breaking ? 'breaking' : 'compatible',
      operation,
      change,
    }));
    const broken = changes.filter(({ breaking }) => breaking).length;
    return {
      kind: 'rows',
      rows,
      data: rows,
      quiet: [...new Set(changes.filter(({ breaking }) => breaking).map(({ operation }) => operation))],
      empty: 'nothing has changed',
      notes:
        rows.length === 0
          ? []
          : [{ tone: broken === 0 ? 'done' : 'hint', text: `${count(broken, 'breaking change')} of ${rows.length}` }],
      exitCode: broken === 0 ? exitCodes.ok : verdictExitCodes.negative,
    };
  },
});

async function readDocument(path: string, io: Io): Promise<unknown> {
  const document = parseJson(await readText(path, io), path);
  if (isObject(document) && 'paths' in document && isObject(document.paths)) return document;
  throw noDocument(path);
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function parseJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw noDocument(path, { cause });
  }
}

const noDocument = (path: string, options?: ErrorOptions): LocalError =>
  new LocalError(`${path} is not an OpenAPI document in JSON`, [], options);
