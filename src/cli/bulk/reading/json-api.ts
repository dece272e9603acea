import { isObject } from './columns.ts';

type Resource = Readonly<Record<string, unknown>>;

/** A resource that a page of JSON:API includes. */
interface IncludedResource {
  readonly type: string;
  readonly fields: Resource;
}

/** The included resources of a page, by their own names and by the names of the resources that they belong to. */
export interface Included {
  readonly byName: ReadonlyMap<string, IncludedResource>;
  readonly byOwner: ReadonlyMap<string, readonly { readonly resource: IncludedResource }[]>;
}

const nameOf = ({ type, id }: Resource): string => `${type} ${id}`;

/** Indexes the member `included` of a page. */
export function readIncluded(included: unknown): Included {
  const named = (Array.isArray(included) ? included.filter(isObject) : []).map((one) => {
    return { one, resource: { type: String(one.type), fields: { ...Object(one.attributes), id: one.id } } };
  });
  const owned = named.flatMap(({ one, resource }) => ownersOf(one).map((owner) => ({ owner, resource })));
  return {
    byName: new Map(named.map(({ one, resource }) => [nameOf(one), resource])),
    byOwner: Map.groupBy(owned, ({ owner }) => owner),
  };
}

/** The resources that a resource belongs to: by a relationship to one resource, or by an attribute with the id of a licence. */
const ownersOf = (resource: Resource): string[] => [
  ...relationsOf(resource).flatMap(([, to]) => (isObject(to) ? nameOf(to) : [])),
  ...Object.entries(Object(resource.attributes)).flatMap(([name, id]) =>
    /^licen[cs]e[-_]?(?:key[-_]?)?id$/i.test(name) ? licenseName(id) : [],
  ),
];

const licenseName = (id: unknown): string => `licence ${id}`;

const relationsOf = ({ relationships }: Resource): (readonly [name: string, to: unknown])[] =>
  Object.entries(Object(relationships)).map(([name, relation]) => [name, Object(relation).data]);

/**
 * A resource of JSON:API as one object: its attributes, each related resource with its `id`, and lists of included resources
 * that belong to it, under their type.
 */
export function flatten(resource: Resource, { byName, byOwner }: Included = readIncluded([])): Resource {
  const { id, attributes } = resource;
  const relations = relationsOf(resource);
  const toOne = relations.flatMap(([name, to]) =>
    isObject(to) ? [[name, { ...byName.get(nameOf(to))?.fields, id: to.id }] as const] : [],
  );
  const belonging = new Set([
    ...relations.flatMap(([, to]) =>
      Array.isArray(to) ? to.flatMap((one) => byName.get(nameOf(Object(one))) ?? []) : [],
    ),
    ...[nameOf(resource), licenseName(id)].flatMap((owner) => byOwner.get(owner) ?? []).map((one) => one.resource),
  ]);
  const lists = [...Map.groupBy(belonging, ({ type }) => type)].map(
    ([type, all]) => [type, all.map(({ fields }) => fields)] as const,
  );
  return { ...Object.fromEntries([...toOne, ...lists]), id, ...(isObject(attributes) && attributes) };
}
