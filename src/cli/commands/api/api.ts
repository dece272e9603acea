import type { AnyEndpoint } from '../../../contract/endpoint.ts';
import { argument, change, command, flag, many, option } from '../../command.ts';
import type { CommandContext } from '../../context.ts';
import { UsageError } from '../../failure/errors.ts';
import type { Io } from '../../io.ts';
import type { CommandResult } from '../../output/result.ts';
import { doneNote, sanitiseJson } from '../../output/terminal.ts';
import { readReference, readText } from '../../values/files.ts';
import { rawEndpoint, readAllPages } from './pages.ts';
import { readRequest, type WrittenField } from './read-request.ts';

export const api = command({
  about:
    'Sends one request, with the token, and prints the response as it came: for what has no command, or not yet. A ' +
    'request is a path, with its method before it: GET unless there is something to send, then POST. Retries, ' +
    'idempotency keys, errors and exit codes are those of every other command.',
  arguments: { words: argument('<[METHOD] PATH...>', 'a method and a path below the service, or a path') },
  options: {
    method: option('-X, --method <METHOD>', 'the method, where it does not stand before the path'),
    rawFields: many('-f, --raw-field <NAME=TEXT>', 'a field with a text: of the body, or of the query of a GET'),
    fields: many(
      '-F, --field <NAME=VALUE>',
      'the same with true, false, null, a whole number, @FILE or - as such',
      parseField,
    ),
    input: option('--input <FILE>', 'the file that holds the body, - for stdin; fields then go into the query'),
    paginate: flag('--paginate', 'read a list to its end'),
    ...change,
  },
  examples: [
    ['lkm api /stats', 'a read'],
    ['lkm api "/key/list?status=full" --paginate', 'a whole list, however long'],
    ['lkm api POST /create-key -f "productId=$ID" -f usesPerKey=3', 'a change; its body is JSON'],
    ['lkm api PATCH /key --input changes.json -n', 'shows the request, and sends nothing'],
  ],

  async run({ words, method, rawFields = [], fields = [], input, paginate }, context) {
    const raw = rawFields.map((text) => splitField(text));
    const body = input === undefined ? null : await readText(input, context.io);
    const request = readRequest({ words, method, fields: [...raw, ...fields], input: body });
    const endpoint = rawEndpoint(request);
    if (request.method === 'GET') {
      if (context.dryRun) throw new UsageError('--dry-run is for changes: a GET changes nothing');
      const caller = await context.caller({ needsToken: endpoint.scope !== 'public' });
      const send = (one: AnyEndpoint, query: unknown) => caller(one, query, { signal: context.io.stop });
      return resultOf(await (paginate ? readAllPages(request, send) : send(endpoint, request.query)), context);
    }
    if (paginate) throw new UsageError('--paginate is for lists, which are read with GET');
    const twice = Object.keys(request.query).find((name) => Object.hasOwn(request.body ?? {}, name));
    if (twice !== undefined)
      throw new UsageError(`${twice} stands in the query and in the body; leave one of them out`);
    const all = { ...request.query, ...request.body };
    const { answer, ...changed } = await context.change(endpoint, all);
    return {
      ...resultOf(answer, context),
      idempotencyKey: changed.idempotencyKey,
      notes: changed.replayed ? [doneNote(changed, '', 'this was done before')] : [],
    };
  },
});

/** The response as a document; JSON is indented on a terminal. */
function resultOf(response: unknown, { io, settings }: CommandContext): CommandResult {
  const indent = io.stdout.isTTY && settings.output === null ? 2 : undefined;
  const content = typeof response === 'string' ? response : sanitiseJson(JSON.stringify(response, null, indent));
  return {
    kind: 'file',
    content: content.endsWith('\n') ? content : `${content}\n`,
    data: response,
    quiet: [],
    secret: true,
  };
}

async function parseField(text: string, io: Io): Promise<WrittenField> {
  const [name, value] = splitField(text);
  return [name, value === 'null' ? null : await readValue(value, io)];
}

async function readValue(text: string, io: Io): Promise<string | number | boolean> {
  if (text === 'true' || text === 'false') return text === 'true';
  return /^-?(0|[1-9]\d{0,14})$/.test(text) ? Number(text) : readReference(text, io);
}

/** The error does not contain the value, which may be a secret. */
function splitField(text: string): readonly [name: string, value: string] {
  const at = text.indexOf('=');
  if (at < 1) throw new UsageError('a field is written NAME=VALUE');
  return [text.slice(0, at), text.slice(at + 1)];
}
