import { fieldsOf, isFields, listOf, textOf, type Fields } from '../fields.js';
import type { DocumentRefs } from './document-refs.js';
import { typeOnly } from './media-type.js';

/** How lists are written, by `collectionFormat`. */
const FORMATS: Readonly<Record<string, Fields>> = {
  csv: { explode: false },
  ssv: { style: 'spaceDelimited', explode: false },
  tsv: { style: 'tabDelimited', explode: false },
  pipes: { style: 'pipeDelimited', explode: false },
  multi: { style: 'form', explode: true },
};
const FORM = 'application/x-www-form-urlencoded';
const MULTIPART = 'multipart/form-data';

/** The servers of a Swagger 2.0 document, as OpenAPI 3 names them. */
export function swaggerServers(root: Fields, location: string | undefined): Fields[] {
  const schemes = listOf(root['schemes']).filter((it) => it === 'https' || it === 'http');
  const scheme = schemes.includes('https') || schemes.length === 0 ? 'https' : 'http';
  const path = `/${(textOf(root['basePath']) ?? '').replace(/^\/+|\/+$/g, '')}`;
  const host = textOf(root['host'])?.replace(/^\w+:\/\//, '');
  if (host === undefined) return location === undefined ? [] : [{ url: path }];
  const isDocumentHost = location !== undefined && schemes.length === 0 && new URL(location).host === host;
  return [{ url: isDocumentHost ? new URL(path, location).href : `${scheme}://${host}${path}` }];
}

/** An operation of Swagger 2.0 with the parameters of its path, as OpenAPI 3.0 writes it. References to schemas stay. */
export function fromSwagger2(operation: Fields, pathItem: Fields, root: Fields, refs: DocumentRefs): Fields {
  const found = new Map<string, Fields>();
  for (const raw of [...listOf(pathItem['parameters']), ...listOf(operation['parameters'])]) {
    const parameter = refs.required(raw);
    const { in: place, name } = parameter;
    found.set(place === 'body' ? 'body' : `${String(place)} ${String(name)}`, parameter);
  }
  const all = [...found.values()];
  const consumes = listOf(operation['consumes'] ?? root['consumes']).flatMap((it) => textOf(it) ?? []);
  const produces = listOf(operation['produces'] ?? root['produces']).flatMap((it) => textOf(it) ?? []);
  const form = all.filter((it) => it['in'] === 'formData');
  const body = found.get('body');
  return {
    ...operation,
    parameters: all.filter((it) => it['in'] !== 'body' && it['in'] !== 'formData').map(parameterOf),
    ...(body === undefined ? {} : { requestBody: bodyOf(body, consumes) }),
    ...(form.length === 0 ? {} : { requestBody: formOf(form, consumes) }),
    responses: { 200: { content: Object.fromEntries(produces.map((type) => [type, {}])) } },
  };
}

function parameterOf(parameter: Fields): Fields {
  const { name, in: place, required, description } = parameter;
  return { name, in: place, required, description, schema: schemaOf(parameter), ...formatOf(parameter) };
}

/** Keywords of a schema stand beside those of the parameter. */
function schemaOf({ name: _name, in: _in, required: _required, description, collectionFormat: _format, ...schema }: Fields): Fields {
  if (isFields(schema['schema'])) return schema['schema'];
  const about = description === undefined ? {} : { description };
  return schema['type'] === 'file' ? { type: 'string', format: 'binary', ...about } : { ...schema, ...about };
}

function formatOf({ type, collectionFormat }: Fields): Fields {
  return type === 'array' ? (FORMATS[typeof collectionFormat === 'string' ? collectionFormat : 'csv'] ?? {}) : {};
}

function bodyOf(body: Fields, consumes: readonly string[]): Fields {
  const schema = fieldsOf(body['schema']);
  const types = consumes.length === 0 ? ['application/json'] : consumes;
  return {
    required: body['required'],
    description: body['description'],
    content: Object.fromEntries(types.map((type) => [type, { schema }])),
  };
}

function formOf(parameters: readonly Fields[], consumes: readonly string[]): Fields {
  const hasFile = parameters.some(({ type }) => type === 'file');
  const declared = consumes.find((it) => typeOnly(it) === MULTIPART || (typeOnly(it) === FORM && !hasFile));
  const named = parameters.filter(({ name }) => typeof name === 'string');
  const entries = (value: (parameter: Fields) => unknown) => Object.fromEntries(named.map((it) => [String(it['name']), value(it)]));
  const required = named.filter((it) => it['required'] === true).map((it) => it['name']);
  return {
    required: required.length > 0,
    content: {
      [declared ?? (hasFile ? MULTIPART : FORM)]: {
        schema: { type: 'object', properties: entries(schemaOf), ...(required.length === 0 ? {} : { required }) },
        encoding: entries(formatOf),
      },
    },
  };
}
