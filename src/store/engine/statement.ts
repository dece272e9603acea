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
  bind(parameters: Readonly<Record<string, unknown>>): SqlValue[];
}

/** Declares a statement; `$.name` stands for the parameter `name`. */
export function statement<P extends object>() {
  return <R>(build: (builder: Kysely<Tables>, $: P) => Compilable<R>): Statement<P, R> => ({
    compile: (builder) => toStatement(build(builder, markers<P>()).compile(), {}),
  });
}

/** Makes what stands for the parameter of a name. */
export type Parameter = (name: string) => SqlValue;

/** Tables whose columns are known when the program runs. */
export type DynamicTables = Kysely<Record<string, Record<string, SqlValue>>>;

/** How the values of parameters become values of columns, by parameter; one that is not named is passed on. */
export type Encoders = Readonly<Record<string, (value: never) => SqlValue>>;

/** Declares a statement that is made from the columns of a table; `$('name')` stands for the parameter `name`. */
export function dynamicStatement<P extends object, R>(
  build: (builder: DynamicTables, $: Parameter) => Compilable<unknown>,
  encoders: Encoders = {},
): Statement<P, R> {
  const $ = (name: string) => new Marker(name) as unknown as SqlValue;
  return { compile: (builder) => toStatement(build(builder as unknown as DynamicTables, $).compile(), encoders) };
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

/** Where a value of a statement comes from: a parameter, with its encoder if it has one, or the statement itself. */
interface Place {
  readonly name: string | null;
  readonly encode: ((value: never) => SqlValue) | undefined;
  readonly fixed: SqlValue;
}

function toStatement(query: CompiledQuery, encoders: Encoders): CompiledStatement {
  const places = query.parameters.map(
    (parameter): Place =>
      parameter instanceof Marker
        ? { name: parameter.name, encode: encoders[parameter.name], fixed: null }
        : { name: null, encode: undefined, fixed: parameter as SqlValue },
  );
  return {
    sql: query.sql,
    bind(parameters) {
      const values: SqlValue[] = [];
      for (const { name, encode, fixed } of places) {
        values.push(name === null ? fixed : bindValue(parameters[name], name, encode));
      }
      return values;
    },
  };
}

function bindValue(value: unknown, name: string, encode: Place['encode']): SqlValue {
  if (value === undefined) throw new TypeError(`statement parameter ${name} was not given`);
  return encode === undefined ? (value as SqlValue) : encode(value as never);
}
