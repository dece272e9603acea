import type { Dialect } from './dialect.ts';

/** Paths in the JSON of a row: to its data, and to the id of its resource. */
interface Members {
  readonly data: string;
  readonly resourceId: string;
}

/** Makes a view of a record table that adds the names of the token, product and customer of each row. */
export function namedRows({ json }: Dialect, view: string, table: string, { data, resourceId }: Members): string {
  const content = json('r.content');
  const actor = `${content} -> 'actor'`;
  // Ids of each kind of resource begin differently, so an id of another kind finds no row.
  const idOf = (name: string, ...otherwise: readonly string[]) =>
    `coalesce(${[`${content} -> '${data}' ->> '${name}'`, ...otherwise, `${content} ${resourceId}`].join(', ')})`;
  return `create view ${view} as
    select r.*, t.name as token_name, p.name as product_name, c.name as customer_name, c.email as customer_email
    from ${table} as r
      left join tokens as t on t.account_id = r.account_id and t.id = (${actor} ->> 'id')
      left join products as p on p.account_id = r.account_id and p.id = ${idOf('productId')}
      left join customers as c on c.account_id = r.account_id
        and c.id = ${idOf('customerId', `case when ${actor} ->> 'type' = 'customer' then ${actor} ->> 'id' end`)}`;
}
