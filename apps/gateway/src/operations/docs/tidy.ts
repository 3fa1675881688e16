export type Node = Record<string, unknown>;

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null;
}

/** Changes the document where generators of clients take it too literally. */
export function tidy(node: unknown): void {
  if (!isNode(node)) return;
  for (const [key, value] of Object.entries(node)) {
    if (key === 'properties' && isNode(value)) Object.values(value).forEach(tidy);
    else tidy(value);
  }
  if (node['in'] === 'query') asListParameter(node);
  // Beside a reference it would forbid all fields of what is referred to.
  if (typeof node['$ref'] === 'string') delete node['additionalProperties'];
  if (isNode(node['schema'])) withoutDefault(node['schema']);
  for (const key of ['items', 'additionalProperties']) if (isNode(node[key])) withoutDefault(node[key]);
  if (isNode(node['properties'])) for (const property of Object.values(node['properties'])) if (isNode(property)) withoutDefault(property);
}

/** A field with a default would be one that is always there, also in a request: the default becomes words. */
function withoutDefault(schema: Node): void {
  if (!('default' in schema)) return;
  const { default: value, description } = schema;
  delete schema['default'];
  schema['description'] = `${typeof description === 'string' ? `${description} ` : ''}Default: \`${JSON.stringify(value)}\`.`;
}

/** A query parameter that takes one value or several is a list with commas; a list of one is that value. */
function asListParameter(parameter: Node): void {
  const { schema } = parameter;
  if (!isNode(schema) || !Array.isArray(schema['anyOf'])) return;
  const list: unknown = schema['anyOf'].find((option) => isNode(option) && option['type'] === 'array');
  if (!isNode(list)) return;
  Object.assign(parameter, { schema: { ...list, description: schema['description'] }, style: 'form', explode: false });
}
