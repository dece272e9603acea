import { type Kysely, sql } from 'kysely';
import type { Tables } from './schema.ts';

/** A table of a PostgreSQL database whose primary key begins with the account. */
export interface AccountTable {
  readonly name: string;
  /** 0 for one that is not partitioned. */
  readonly partitions: number;
  /** Whether every unique index has the account in it; without it nothing is unique across partitions. */
  readonly canBeDivided: boolean;
  /** Statements that give others the rights that they have on it. */
  readonly grants: readonly string[];
}

/** The tables whose rows belong to accounts, by name. */
export async function listAccountTables(db: Kysely<Tables>): Promise<readonly AccountTable[]> {
  const { rows } = await sql<AccountTable>`
    select t.relname as name,
      (select count(*)::int from pg_inherits where inhparent = t.oid) as partitions,
      not exists (
        select from pg_index where indrelid = t.oid and indisunique and not account.attnum = any (indkey)
      ) as "canBeDivided",
      array(
        select format('grant %s on %I to %s', privilege_type, t.relname,
                      case grantee when 0 then 'public' else quote_ident(pg_get_userbyid(grantee)) end)
        from aclexplode(t.relacl) where grantee <> t.relowner
      ) as grants
    from pg_class t
      join pg_namespace on pg_namespace.oid = t.relnamespace and nspname = current_schema()
      join pg_index k on k.indrelid = t.oid and k.indisprimary
      join pg_attribute account on account.attrelid = t.oid and account.attnum = k.indkey[0]
    where account.attname = 'account_id' and t.relkind in ('r', 'p') and not t.relispartition
    order by t.relname
  `.execute(db);
  return rows;
}

/** A foreign key: its table and name, quoted, and what it says. */
interface Reference {
  readonly table: string;
  readonly constraint: string;
  readonly definition: string;
}

/** The foreign keys from a table and to it. */
export async function listReferences(db: Kysely<Tables>, table: string): Promise<readonly Reference[]> {
  const { rows } = await sql<Reference>`
    select conrelid::regclass::text as table, quote_ident(conname) as constraint, pg_get_constraintdef(oid) as definition
    from pg_constraint
    where contype = 'f' and conparentid = 0 and quote_ident(${table})::regclass in (conrelid, confrelid)
    order by 1, 2
  `.execute(db);
  return rows;
}

/** The statements that make the indexes of a table, and the constraints that stand on indexes. */
export async function listIndexes(db: Kysely<Tables>, table: string): Promise<readonly string[]> {
  const { rows } = await sql<{ definition: string }>`
    select case
        when pg_constraint.oid is null then pg_get_indexdef(indexrelid)
        else format('alter table %s add constraint %I %s', indrelid::regclass, conname, pg_get_constraintdef(pg_constraint.oid))
      end as definition
    from pg_index left join pg_constraint on conindid = indexrelid and contype in ('p', 'u')
    where indrelid = quote_ident(${table})::regclass
    order by indisprimary desc, indexrelid
  `.execute(db);
  return rows.map(({ definition }) => definition);
}

/** What is on a table and is none of lkm's. */
interface Obstacle {
  readonly table: string;
  /** One sentence. */
  readonly text: string;
}

/** What would be lost, or be in the way, if another table took the place of one. */
export async function listObstacles(db: Kysely<Tables>): Promise<readonly Obstacle[]> {
  const { rows } = await sql<Obstacle>`
    with tables as (
      select t.oid, t.relname as name, pg_get_userbyid(t.relowner) as owner from pg_class t
        join pg_namespace on pg_namespace.oid = t.relnamespace and nspname = current_schema()
      where t.relkind = 'r' and not t.relispartition
    )
    select name as table, format('%s belongs to %s: connect as that user', name, owner) as text
    from tables where owner <> current_user
    union
    select name, format('%s has the trigger %s', name, tgname)
    from tables join pg_trigger on tgrelid = tables.oid and not tgisinternal
    union
    select name, format('%s has the policy %s', name, polname) from tables join pg_policy on polrelid = tables.oid
    union
    select name, format('%s is in the publication %s', name, pubname)
    from tables join pg_publication_rel on prrelid = tables.oid join pg_publication on pg_publication.oid = prpubid
    union
    select name, format('%s is read by the view %s', name, ev_class::regclass)
    from tables join pg_depend on refobjid = tables.oid and classid = 'pg_rewrite'::regclass
      join pg_rewrite on pg_rewrite.oid = objid
    order by 1, 2
  `.execute(db);
  return rows;
}
