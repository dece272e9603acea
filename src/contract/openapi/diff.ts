import { compareSchemas, type Direction, type Documents } from './compare-schemas.ts';
import { contentsOf, type Json, listOf, objectOf, resolve } from './document.ts';

/** A difference between two OpenAPI documents of the service. */
export interface ApiChange {
  /** Whether a client of the old document may fail with the new one. */
  readonly breaking: boolean;
  /** `POST /create-key`. */
  readonly operation: string;
  /** What has changed, as a sentence. */
  readonly change: string;
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options', 'trace'];

/**
 * Compares two OpenAPI documents. A reply may gain fields, a request optional ones, and the API operations; an operation
 * or a field that is gone, a request with more limits, and a reply of another form break a client.
 */
export function compareApis(before: unknown, after: unknown): ApiChange[] {
  const documents = { before: objectOf(before), after: objectOf(after) };
  return [
    ...comparePairs(operationsOf(before), operationsOf(after), 'is gone', (was, is, report) =>
      compareOperations({ ...documents, was, is, report }),
    ),
    // There it is the receiver who gets a body.
    ...comparePairs(webhooksOf(before), webhooksOf(after), 'is not sent any more', (was, is, report) => {
      const [old, now] = [contentsOf(was, documents.before), contentsOf(is, documents.after)];
      compareContents({ ...documents, report }, old, now, 'received', 'body');
    }),
  ];
}

/** Compares what two documents have under the same name. */
function comparePairs<T>(
  old: ReadonlyMap<string, T>,
  now: ReadonlyMap<string, T>,
  gone: string,
  compare: (was: T, is: T, report: Documents['report']) => void,
): ApiChange[] {
  const changes: ApiChange[] = [];
  for (const [operation, was] of old) {
    const is = now.get(operation);
    const report = (breaking: boolean, change: string) => void changes.push({ breaking, operation, change });
    if (is === undefined) report(true, gone);
    else compare(was, is, report);
  }
  const added = [...now.keys()].filter((operation) => !old.has(operation));
  return [...changes, ...added.map((operation) => ({ breaking: false, operation, change: 'is new' }))];
}

/** The bodies of what is sent to webhooks, by what it is. */
function webhooksOf(document: unknown): ReadonlyMap<string, Json> {
  const items = Object.entries(objectOf(objectOf(document).webhooks));
  return new Map(
    items.map(([name, item]) => {
      const { post } = resolve(objectOf(item), objectOf(document));
      return [`webhook ${name}`, objectOf(objectOf(post).requestBody)];
    }),
  );
}

/** An operation as it was and as it is. */
interface Comparison extends Documents {
  readonly was: Json;
  readonly is: Json;
}

/** The operations by method and path, each with the parameters that its path has for all. */
function operationsOf(document: unknown): Map<string, Json> {
  const found = Object.entries(objectOf(objectOf(document).paths)).flatMap(([path, item]) => {
    const { parameters, ...methods } = resolve(objectOf(item), objectOf(document));
    return METHODS.filter((method) => method in methods).map((method): [string, Json] => {
      const operation = objectOf(methods[method]);
      // The last of one name counts: an operation's own.
      const all = [...listOf(parameters), ...listOf(operation.parameters)];
      return [`${method.toUpperCase()} ${path}`, { ...operation, parameters: all }];
    });
  });
  return new Map(found);
}

function compareOperations(comparison: Comparison): void {
  const { was, is, before, after, report } = comparison;
  if (was.deprecated !== true && is.deprecated === true) report(false, 'is being retired');
  compareRights(comparison);
  compareParameters(comparison);
  compareBodies(comparison);
  for (const [status, response] of Object.entries(objectOf(was.responses))) {
    const other = objectOf(is.responses)[status];
    if (other === undefined) {
      if (status.startsWith('2')) report(true, `does not return ${status} any more`);
      continue;
    }
    compareContents(comparison, contentsOf(response, before), contentsOf(other, after), 'received', status);
  }
}

/** Whoever knows a type of content goes on using it, whichever others there are. */
function compareContents(
  documents: Documents,
  old: ReadonlyMap<string, Json>,
  now: ReadonlyMap<string, Json>,
  direction: Direction,
  path: string,
): void {
  for (const [type, schema] of old) {
    const other = now.get(type);
    if (other === undefined) documents.report(true, `${path} is not ${type} any more`);
    else compareSchemas(documents, schema, other, direction, path);
  }
}

/** Whoever may make a request with some credentials has to be able to make it with the same ones. */
function compareRights({ was, is, before, after, report }: Comparison): void {
  const [old, now] = [requirementsOf(was, before), requirementsOf(is, after)];
  const wasPublic = old.some((schemes) => Object.keys(schemes).length === 0);
  if (old.some((schemes) => !now.some((fewer) => isFulfilled(fewer, schemes)))) {
    report(true, wasPublic ? 'needs a token' : 'needs other credentials');
    return;
  }
  const [oldRights, newRights] = [rightsOf(was), rightsOf(is)];
  if (oldRights === null || newRights === null) return;
  if (newRights.scope !== '' && newRights.scope !== oldRights.scope) {
    report(true, `needs ${newRights.scope}, not ${oldRights.scope || 'only a token'}`);
  }
  if (oldRights.isOpenToClients && !newRights.isOpenToClients) report(true, 'is closed to tokens of kind client');
}

/** The alternatives of which a request has to fulfil one; an empty one needs no credentials. */
function requirementsOf(operation: Json, document: Json): readonly Json[] {
  const requirements = listOf(operation.security ?? document.security).map(objectOf);
  return requirements.length === 0 ? [{}] : requirements;
}

const isFulfilled = (requirement: Json, schemes: Json): boolean =>
  Object.entries(requirement).every(
    ([name, scopes]) => name in schemes && listOf(scopes).every((scope) => listOf(schemes[name]).includes(scope)),
  );

/** The rights that an operation needs, as its description ends; null when it does not say. */
function rightsOf({ description }: Json): { readonly scope: string; readonly isOpenToClients: boolean } | null {
  const said = /Needs (?:a valid token|the scope `([^`]+)`)\.( Not open to tokens of kind `client`\.)?$/.exec(
    String(description),
  );
  return said === null ? null : { scope: said[1] ?? '', isOpenToClients: said[2] === undefined };
}

function compareBodies(comparison: Comparison): void {
  const { was, is, before, after, report } = comparison;
  const [old, now] = [contentsOf(was.requestBody, before), contentsOf(is.requestBody, after)];
  const wasRequired = resolve(objectOf(was.requestBody), before).required === true;
  const isRequired = resolve(objectOf(is.requestBody), after).required === true;
  if (old.size > 0 && now.size === 0) report(true, 'takes no body any more');
  if (old.size === 0 && now.size > 0) report(isRequired, isRequired ? 'needs a body' : 'may have a body');
  if (old.size === 0 || now.size === 0) return;
  if (isRequired && !wasRequired) report(true, 'needs a body');
  compareContents(comparison, old, now, 'sent', 'body');
}

function compareParameters(comparison: Comparison): void {
  const { was, is, before, after, report } = comparison;
  const [old, now] = [parametersOf(was, before), parametersOf(is, after)];
  for (const [name, parameter] of old) {
    const other = now.get(name);
    if (other === undefined) report(true, `${name} is gone`);
    else {
      if (parameter.required !== true && other.required === true) report(true, `${name} is required`);
      compareSchemas(comparison, objectOf(parameter.schema), objectOf(other.schema), 'sent', name);
    }
  }
  for (const [name, parameter] of now) {
    if (!old.has(name))
      report(parameter.required === true, `${name} is new${parameter.required ? ' and required' : ''}`);
  }
}

function parametersOf(operation: Json, document: Json): Map<string, Json> {
  const parameters = listOf(operation.parameters).map((parameter) => resolve(objectOf(parameter), document));
  return new Map(parameters.map((parameter) => [`${parameter.in} ${parameter.name}`, parameter]));
}
