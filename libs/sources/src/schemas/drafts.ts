import type { JsonSchema } from '#contracts';

const DRAFT_07 = 'http://json-schema.org/draft-07/schema#';
const DRAFT = /^https?:\/\/json-schema\.org\/(?:draft[-/])?([^/#]+)\/schema#?$/;
/** A checker would look for a keyword of its own, or for another document. */
const NOT_READ = ['$vocabulary', '$async', '$dynamicAnchor', '$recursiveAnchor', '$dynamicRef', '$recursiveRef'];
const ADDRESS = /^[a-zA-Z][a-zA-Z0-9+.-]*:[\w\-.~:/?@!$&'()*+,;=%]*#?$/;

/** Drafts up to 07 are read as 07, later ones as 2020-12, as is a schema that names none. In place. */
export function mendRoot(root: JsonSchema): { readonly fault?: string; readonly itemsAreLists: boolean } {
  const { $schema } = root;
  const named = typeof $schema === 'string' ? $schema : '';
  const draft = DRAFT.exec(named)?.[1];
  if (draft !== undefined && /^0[3467]$/.test(draft)) {
    if (!/^http:.*-07/.test(named)) root['$schema'] = DRAFT_07;
    return { itemsAreLists: true };
  }
  if (draft === '2020-12' && named.startsWith('https:')) return { itemsAreLists: false };
  delete root['$schema'];
  const isKnown = $schema === undefined || $schema === null || draft === '2020-12' || draft === '2019-09';
  return { itemsAreLists: false, ...(isKnown ? {} : { fault: `/$schema is not known: ${JSON.stringify($schema).slice(0, 80)}` }) };
}

/** Keywords of one schema as the draft has them under which it is read. In place; the meaning stays. */
export function mendDraft(
  node: JsonSchema,
  { isRoot, itemsAreLists }: { readonly isRoot: boolean; readonly itemsAreLists: boolean },
): void {
  const dynamic = node['$dynamicRef'] ?? node['$recursiveRef'];
  if (dynamic !== undefined && node['$ref'] === undefined) node['$ref'] = dynamic;
  for (const key of NOT_READ) if (node[key] !== undefined) delete node[key];
  if (!isRoot) delete node['$schema'];
  if (typeof node['$anchor'] !== 'string') delete node['$anchor'];
  if (node['id'] !== undefined) delete node['id'];
  const { $id } = node;
  if ($id !== undefined && !(isRoot && typeof $id === 'string' && ADDRESS.test($id))) delete node['$id'];
  exclusiveLimits(node);
  typedValues(node);
  if (node['type'] === 'any') delete node['type'];
  if (typeof node['required'] === 'boolean') delete node['required'];
  const { items } = node;
  if (!Array.isArray(items) || (itemsAreLists && items.length > 0)) return;
  if (node['prefixItems'] === undefined && items.length > 0) node['prefixItems'] = items;
  delete node['items'];
  if (node['additionalItems'] !== undefined) node['items'] = node['additionalItems'];
  delete node['additionalItems'];
}

/** Values that YAML without quotes, or a generator, gave another type than the schema: none could ever fit. */
function typedValues(node: JsonSchema): void {
  const types = [node['type']].flat().filter((it) => it !== 'null');
  const [type] = types;
  const { enum: values } = node;
  if (types.length !== 1 || !Array.isArray(values)) return;
  if (type === 'array' && !values.some((it) => it === null || Array.isArray(it))) return itemValues(node, values);
  node['enum'] = values.map((value) => {
    if (type === 'string' && (typeof value === 'number' || typeof value === 'boolean')) return String(value);
    if ((type === 'integer' || type === 'number') && typeof value === 'string' && NUMBER.test(value)) return Number(value);
    return type === 'boolean' && (value === 'true' || value === 'false') ? value === 'true' : value;
  });
}

/** Values of the items that stand beside them: no list is one of these. */
function itemValues(node: JsonSchema, values: JsonSchema[string][]): void {
  const { items = {} } = node;
  delete node['enum'];
  if (typeof items === 'object' && items !== null && !Array.isArray(items) && items['enum'] === undefined)
    node['items'] = { ...items, enum: values };
}

const NUMBER = /^-?\d{1,15}(?:\.\d{1,15})?$/;

/** Draft 04 and OpenAPI 3.0: `exclusiveMinimum: true` makes `minimum` exclusive. */
export function exclusiveLimits(node: JsonSchema): void {
  for (const [limit, exclusive] of [
    ['minimum', 'exclusiveMinimum'],
    ['maximum', 'exclusiveMaximum'],
  ] as const) {
    const { [limit]: value, [exclusive]: isExclusive } = node;
    if (typeof isExclusive !== 'boolean') continue;
    delete node[exclusive];
    if (!isExclusive || typeof value !== 'number') continue;
    node[exclusive] = value;
    delete node[limit];
  }
}
