import type { JsonValue } from '#contracts';
import type { HttpRequest } from '#subject';

/** A JSON Schema of the document, as far as the page shows it. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

export interface Parameter {
  readonly in: 'path' | 'query' | 'header';
  readonly name: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
  readonly example?: unknown;
}

interface Media {
  readonly schema?: Schema;
  readonly examples?: Readonly<Record<string, { readonly value: JsonValue }>>;
}

export interface Response {
  readonly description: string;
  readonly content?: Readonly<Record<string, Media>>;
}

interface OperationObject {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<Record<string, Response>>;
}

/** `GET /openapi.json`, as far as the page shows it. */
export interface ApiDocument {
  readonly info: { readonly version: string; readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

export interface Operation extends OperationObject {
  /** Upper-case method. */
  readonly method: string;
  readonly path: string;
}

export interface Group {
  readonly name: string;
  readonly description: string;
  readonly operations: readonly Operation[];
}

/** Operations by tag, in the order of the document. */
export function groupsOf({ tags, paths }: ApiDocument): Group[] {
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Operation => ({ ...operation, method: method.toUpperCase(), path })),
  );
  return tags
    .map((tag) => ({ ...tag, operations: all.filter((operation) => operation.tags.includes(tag.name)) }))
    .filter(({ operations }) => operations.length > 0);
}

/** Groups with the operations whose name, path or summary has all words. */
export function foundIn(groups: readonly Group[], query: string): Group[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const has = ({ operationId, method, path, summary }: Operation) => {
    const text = `${operationId} ${method} ${path} ${summary}`.toLowerCase();
    return words.every((word) => text.includes(word));
  };
  return groups.map((group) => ({ ...group, operations: group.operations.filter(has) })).filter(({ operations }) => operations.length > 0);
}

/** The schema behind references; fields of `allOf` together. */
export function resolved(schema: Schema, document: ApiDocument): Schema {
  const name = nameOf(schema);
  const own = name === undefined ? schema : resolved(document.components.schemas[name] ?? {}, document);
  const { allOf, ...rest } = own;
  if (allOf === undefined) return own;
  const parts = allOf.map((part) => resolved(part, document));
  return {
    ...rest,
    properties: Object.fromEntries([...parts, own].flatMap(({ properties = {} }) => Object.entries(properties))),
    required: [...parts, own].flatMap(({ required = [] }) => required),
  };
}

function nameOf({ $ref }: Schema): string | undefined {
  return $ref?.slice($ref.lastIndexOf('/') + 1);
}

export interface Field {
  readonly name: string;
  readonly isRequired: boolean;
  readonly type: string;
  readonly about: string;
  readonly schema: Schema;
}

export function fieldsOf(schema: Schema, document: ApiDocument): Field[] {
  const { properties = {}, required = [] } = resolved(schema, document);
  return Object.entries(properties).map(([name, field]) => ({
    name,
    isRequired: required.includes(name),
    type: typeText(resolved(field, document).enum === undefined ? field : resolved(field, document)),
    about: field.description ?? resolved(field, document).description ?? '',
    schema: field,
  }));
}

/** Schemas with fields of their own inside a type, by name: of items, values and variants. */
export function innerSchemas(schema: Schema, document: ApiDocument): readonly { readonly name: string; readonly schema: Schema }[] {
  const own = resolved(schema, document);
  if (own.properties !== undefined && Object.keys(own.properties).length > 0) return [{ name: typeText(schema), schema }];
  const within = [
    ...(own.items === undefined ? [] : [own.items]),
    ...(typeof own.additionalProperties === 'object' ? [own.additionalProperties] : []),
    ...(own.anyOf ?? own.oneOf ?? []),
  ];
  return within.flatMap((part) => innerSchemas(part, document));
}

/** Type of a value for people, such as `string[]`, `"allow" | "deny"` or the name of a schema. */
export function typeText(schema: Schema): string {
  const { type, items, additionalProperties, format } = schema;
  const name = nameOf(schema) ?? (schema.allOf?.length === 0 ? undefined : nameOf(schema.allOf?.[0] ?? {}));
  if (name !== undefined) return name;
  if ('const' in schema) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  const variants = schema.anyOf ?? schema.oneOf;
  if (variants !== undefined) return [...new Set(variants.map(typeText))].join(' | ');
  if (type === 'array') return items === undefined ? 'array' : inBrackets(typeText(items));
  if (type === 'object' && typeof additionalProperties === 'object') return `map of ${typeText(additionalProperties)}`;
  if (type === undefined) return 'any';
  return `${typeof type === 'string' ? type : type.join(' | ')}${format === undefined ? '' : ` (${format})`}`;
}

function inBrackets(type: string): string {
  return type.includes(' | ') ? `(${type})[]` : `${type}[]`;
}

export function exampleOf({ example, schema }: Parameter): string {
  const first: unknown = example ?? schema.examples?.[0];
  return first === undefined ? '' : Array.isArray(first) ? first.join(',') : typeof first === 'string' ? first : JSON.stringify(first);
}

/** Media type of the request's body, and its examples. */
export function bodyOf({ requestBody }: Operation): { readonly type: string; readonly examples: readonly JsonValue[] } | undefined {
  const [[type, media] = []] = Object.entries(requestBody?.content ?? {});
  if (type === undefined || media === undefined) return undefined;
  return { type, examples: Object.values(media.examples ?? {}).map(({ value }) => value) };
}

/** Entries of a person, by `in:name` of the parameter. */
export type Entered = Readonly<Record<string, string>>;

export const entryOf = (parameter: Parameter): string => `${parameter.in}:${parameter.name}`;

/** The request with what was entered; path parameters that were not are in braces. */
export function requestOf(operation: Operation, entered: Entered, body: string): HttpRequest {
  const { method, path, parameters = [], security } = operation;
  const given = (place: Parameter['in']) =>
    parameters.flatMap((parameter): [string, string][] => {
      const value = entered[entryOf(parameter)]?.trim() ?? '';
      return parameter.in === place && value !== '' ? [[parameter.name, value]] : [];
    });
  const filled = given('path').reduce((url, [name, value]) => url.replace(`{${name}}`, encodeURIComponent(value)), path);
  const query = new URLSearchParams(given('query'));
  const type = bodyOf(operation)?.type;
  return {
    method,
    path: query.size === 0 ? filled : `${filled}?${query.toString()}`,
    needsKey: security.length > 0,
    headers: { ...(type === undefined || body === '' ? {} : { 'Content-Type': type }), ...Object.fromEntries(given('header')) },
    ...(type === undefined || body === '' ? {} : { body }),
    streams: streamsOnly(operation),
  };
}

/** True if the answer has no end: an event stream, or a WebSocket. */
export function streamsOnly({ responses }: Operation): boolean {
  if ('101' in responses) return true;
  const types = Object.entries(responses).flatMap(([status, { content }]) => (status < '300' ? Object.keys(content ?? {}) : []));
  return types.length > 0 && types.every((type) => type === 'text/event-stream');
}

/** Scope that the key needs. */
export function scopeOf({ security }: Operation): string | undefined {
  return security[0]?.['apiKey']?.[0];
}
