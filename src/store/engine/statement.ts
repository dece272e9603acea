import type { Compilable, CompiledQuery, Kysely } from 'kysely';
import type { Tables } from '../schema.ts';

/** A value that a column can hold on both engines. */
export type SqlValue = string | number | null;

/**
 * One SQL statement, declared once and bound by name: `P` are its parameters, `R` its rows.
 * A driver compiles it for its engine and prepares it the first time it is used.
 */
export interface Statement<P, R> {
  compile(builder: Kysely<Tables>): CompiledStatement;
  /** Never set: carries the types. */
  readonly types?: (parameters: P) => R;
}

/** SQL of one engine, and how its parameters are found by position. */
export interface CompiledStatement {
  readonly sql: string;
  bind(parameters: Readonly<Record<string, SqlValue>>): SqlValue[];
}

/** Declares a statement; `$.name` stands for the parameter `name`. */
export function statement<P extends object>() {
  return <R>(build: (builder: Kysely<Tables>, $: P) => Compilable<R>): Statement<P, R> => ({
    compile: (builder) => toStatement(build(builder, markers<P>()).compile()),
  });
}

/** Stands in a query for a parameter until the query is compiled. */
class Marker {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

function markers<P extends object>(): P {
  return new Proxy({}, { get: (_, name) => new Marker(String(name)) }) as P;
}

function toStatement(query: CompiledQuery): CompiledStatement {
  const binders = query.parameters.map((parameter) =>
    parameter instanceof Marker
      ? (parameters: Readonly<Record<string, SqlValue>>) => given(parameters, parameter.name)
      : () => parameter as SqlValue,
  );
  return { sql: query.sql, bind: (parameters) => binders.map((bind) => bind(parameters)) };
}

function given(parameters: Readonly<Record<string, SqlValue>>, name: string): SqlValue {
  const value = parameters[name];
  if (value === undefined) throw new TypeError(`statement parameter ${name} was not given`);
  return value;
}
