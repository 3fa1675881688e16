export type Node = Record<string, unknown>;

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null;
}

/** Changes parts of the document that generators of clients misread. */
export function tidy(node: unknown): void {
  if (!isNode(node)) return;
  for (const [key, value] of Object.entries(node)) {
    if (key === 'properties' && isNode(value)) Object.values(value).forEach(tidy);
    else tidy(value);
  }
  if (node['in'] === 'query') asListParameter(node);
  // `additionalProperties` beside a reference would forbid all fields of its target.
  if (typeof node['$ref'] === 'string') delete node['additionalProperties'];
  if (isNode(node['schema'])) withoutDefault(node['schema']);
  for (const key of ['items', 'additionalProperties']) if (isNode(node[key])) withoutDefault(node[key]);
  if (isNode(node['properties'])) for (const property of Object.values(node['properties'])) if (isNode(property)) withoutDefault(property);
}

/** Moves a default into the description: generators treat a field with a default as always present, even in a request. */
function withoutDefault(schema: Node): void {
  if (!('default' in schema)) return;
  const { default: value, description } = schema;
  delete schema['default'];
  schema['description'] = `${typeof description === 'string' ? `${description} ` : ''}Default: \`${JSON.stringify(value)}\`.`;
}

/** Declares a query parameter of one or several values as a list with commas. */
function asListParameter(parameter: Node): void {
  const { schema } = parameter;
  if (!isNode(schema) || !Array.isArray(schema['anyOf'])) return;
  const list: unknown = schema['anyOf'].find((option) => isNode(option) && option['type'] === 'array');
  if (!isNode(list)) return;
  Object.assign(parameter, { schema: { ...list, description: schema['description'] }, style: 'form', explode: false });
}
