import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { JsonSchema } from '#contracts';
import { fieldsOf, isFields, listOf, textOf, type Fields } from '../fields.js';
import { DocumentRefs } from './document-refs.js';
import { SchemaConverter, type SchemaContext } from './json-schema.js';
import { METHODS, type Operation, type Parameter, type RequestBody } from './operation.js';
import { readTemplate } from './read-template.js';
import { readBody } from './read-body.js';
import { readParameters, type Reserved } from './read-parameters.js';
import { acceptOf } from './response-types.js';
import { serverOf, type ServerRules } from './servers.js';
import { Subtypes } from './subtypes.js';
import { fromSwagger2, swaggerServers } from './swagger-2.js';
import { comparisonBudget } from '../schemas/distinct-branches.js';

/** All schemas of a document together: what a hostile one may cost. */
const MAX_PARTS = 3_000_000;
const MAX_OPERATIONS = 20_000;
const MAX_PROBLEMS = 50;
const MAX_DESCRIPTION = 8_000;
const MAX_PATH = 4_000;
/** More of a text makes no difference to a name. */
const MAX_NAME_SOURCE = 200;

export interface ReadRules {
  readonly servers: ServerRules;
  readonly reserved: Reserved;
  /** The operations that become tools. */
  readonly wanted: (operation: {
    readonly name: string;
    readonly method: string;
    readonly path: string;
    readonly tags: readonly string[];
  }) => boolean;
  readonly maxTools: number;
  /** Address or path of the document, which may refer to itself by it. */
  readonly location?: string | undefined;
}

export interface ReadOperations {
  readonly operations: readonly Operation[];
  /** Operations that were left out, with the reason. */
  readonly problems: readonly string[];
}

interface Found {
  readonly method: string;
  readonly path: string;
  readonly pathItem: Fields;
  readonly raw: Fields;
  readonly tags: readonly string[];
}

/**
 * The operations of a document of OpenAPI 3 or Swagger 2.0: 1. list  2. name  3. choose  4. convert, one after the other,
 * so that a large document does not hold up the process. @throws Error when it is no such document
 */
export async function readOperations(document: unknown, rules: ReadRules, signal?: AbortSignal): Promise<ReadOperations> {
  const given = fieldsOf(document);
  const isSwagger2 = isVersion2(given);
  const root = isSwagger2 ? { ...given, servers: swaggerServers(given, rules.servers.documentUrl) } : given;
  const refs = new DocumentRefs(root, rules.location);
  const problems: string[] = [];
  const found = listed(root, refs, (problem) => problems.push(problem));
  const names = namesOf(found);
  const operations: Operation[] = [];
  const hasSiblings = !isSwagger2 && !/^v?3(?:\.0|$)/.test(String(given['openapi']));
  const [budget, comparisons] = [{ left: MAX_PARTS }, comparisonBudget()];
  const schemas: SchemaContext = { refs, subtypes: new Subtypes(root), budget, comparisons, hasSiblings };
  const wanted = found.map((it, index) => ({ it, name: names[index] ?? '' })).filter(({ it, name }) => rules.wanted({ ...it, name }));
  if (wanted.length > rules.maxTools)
    problems.push(`${wanted.length} operations, of which ${rules.maxTools} are taken: use include, tags, methods or maxTools`);
  for (const { it, name } of wanted.slice(0, rules.maxTools)) {
    signal?.throwIfAborted();
    await setImmediate();
    const say = (problem: string) => problems.push(`${it.method.toUpperCase()} ${it.path}: ${problem}`.slice(0, 500));
    try {
      const context = { root, refs, rules, converter: new SchemaConverter(schemas), say };
      operations.push(operationOf(isSwagger2 || hasOldBody(it, refs) ? upgraded(it, root, refs) : it, name, context));
    } catch (error) {
      say(error instanceof Error ? error.message : String(error));
    }
    refs.takeFaults();
  }
  return { operations, problems: bounded(problems) };
}

function bounded(problems: readonly string[]): string[] {
  if (problems.length <= MAX_PROBLEMS) return [...problems];
  return [...problems.slice(0, MAX_PROBLEMS - 1), `${problems.length - MAX_PROBLEMS + 1} more problems of this document are not listed`];
}

/** Writers of YAML leave the quotes out, so a version may be a number. @throws Error for any but 2 and 3 */
function isVersion2({ openapi, swagger }: Fields): boolean {
  const given = openapi ?? swagger;
  const version = typeof given === 'string' || typeof given === 'number' ? String(given).trim() : 'none';
  if (openapi !== undefined && /^v?3(?:\.|$)/.test(version)) return false;
  if (openapi === undefined && /^v?2(?:\.0)*$/.test(version)) return true;
  throw new Error(`expected an OpenAPI document of version 3, or of Swagger 2.0; received the version ${version.slice(0, 20)}`);
}

/** A body as Swagger 2.0 has it, which some documents of a later version keep. */
function hasOldBody({ raw, pathItem }: Found, refs: DocumentRefs): boolean {
  if (raw['requestBody'] !== undefined) return false;
  const all = [...listOf(pathItem['parameters']), ...listOf(raw['parameters'])];
  return all.some((it) => ['body', 'formData'].includes(String(refs.resolve(it)['in'])));
}

function upgraded(found: Found, root: Fields, refs: DocumentRefs): Found {
  return { ...found, raw: fromSwagger2(found.raw, found.pathItem, root, refs), pathItem: {} };
}

function listed(root: Fields, refs: DocumentRefs, say: (problem: string) => void): Found[] {
  const found: Found[] = [];
  for (const [key, item] of Object.entries(fieldsOf(root['paths']))) {
    if (/^x-/i.test(key) || item === null) continue;
    const path = key.startsWith('/') ? key : `/${key}`;
    if (path !== key) say(`${key.slice(0, 200)}: the path does not begin with a slash, which is added`);
    try {
      for (const it of listedOf(path, item, refs, say)) if (found.length < MAX_OPERATIONS) found.push(it);
    } catch (error) {
      say(`${path.slice(0, 200)}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return found;
}

/** The operations of one path. @throws Error when it cannot be read */
function listedOf(path: string, item: unknown, refs: DocumentRefs, say: (problem: string) => void): Found[] {
  if (path.length > MAX_PATH) throw new RangeError(`its path has ${path.length} characters; expected at most ${MAX_PATH}`);
  const pathItem = refs.resolve(item);
  for (const fault of refs.takeFaults()) say(`${path.slice(0, 200)}: ${fault}`);
  return methodsOf(pathItem).flatMap(([method, operation]) => {
    if (operation === null) return [];
    if (!isFields(operation) || !METHOD.test(method) || method.toUpperCase() === 'CONNECT') {
      say(`${method.slice(0, 50).toUpperCase()} ${path.slice(0, 200)}: it is no operation that can be called`);
      return [];
    }
    const raw = refs.resolve(operation);
    const tags = listOf(raw['tags']).filter((tag): tag is string => typeof tag === 'string');
    return [{ method, path, pathItem, raw, tags }];
  });
}

/** RFC 9110, section 5.6.2. */
const METHOD = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,50}$/;

/** Methods of the path item, then the additional ones of OpenAPI 3.2. */
function methodsOf(pathItem: Fields): [method: string, operation: unknown][] {
  const written = METHODS.map((method) => [method, method in pathItem ? method : method.toUpperCase()] as const);
  const own = written.flatMap(([method, key]) => (pathItem[key] === undefined ? [] : [[method, pathItem[key]] as [string, unknown]]));
  const known = new Set<string>(METHODS);
  const more = Object.entries(fieldsOf(pathItem['additionalOperations'])).map(([method, it]): [string, unknown] => {
    const small = method.toLowerCase();
    return [known.has(small) ? small : method, it];
  });
  return [...own, ...more.filter(([method]) => !own.some(([it]) => it === method))];
}

/** `operationId`, else method and path, as tool names allow. Names that two operations would have get a digest of method and path. */
function namesOf(found: readonly Found[]): string[] {
  const readable = found.map(({ raw, method, path }) => {
    return nameOf(textOf(raw['operationId']) ?? '') || nameOf(`${method}_${path}`) || 'operation';
  });
  const count = new Map<string, number>();
  for (const name of readable) count.set(name, (count.get(name) ?? 0) + 1);
  return found.map(({ method, path }, index) => {
    const name = readable[index] ?? '';
    if (count.get(name) === 1) return name;
    return `${name}_${createHash('sha256').update(`${method} ${path}`).digest('hex').slice(0, 8)}`;
  });
}

const nameOf = (text: string): string =>
  text
    .slice(0, MAX_NAME_SOURCE)
    .replace(/[^A-Za-z0-9_-]+/g, '_')
    .replace(/^[^A-Za-z]+|_+$/g, '')
    .slice(0, 100);

interface Context {
  readonly root: Fields;
  readonly refs: DocumentRefs;
  readonly rules: ReadRules;
  readonly converter: SchemaConverter;
  readonly say: (problem: string) => void;
}

function operationOf({ method, path, pathItem, raw, tags }: Found, name: string, context: Context): Operation {
  const { root, refs, rules, converter, say } = context;
  const { parameters, template } = readTemplate(path, readParameters(pathItem, raw, { ...context, reserved: rules.reserved }), say);
  const body = readBody(raw, new Set(parameters.map(({ argument }) => argument)), refs, converter);
  const input = inputOf(parameters, body, converter);
  for (const fault of refs.takeFaults()) say(fault);
  const baseUrl = serverOf([raw, pathItem, root], rules.servers);
  const summary = textOf(raw['summary']);
  const about = [...new Set([summary, textOf(raw['description'])])].filter((it) => it !== undefined).join('\n\n');
  return {
    name,
    method,
    path,
    template,
    baseUrl,
    tags,
    label: (summary ?? name).slice(0, 200),
    // The request is a part of the description, so that a change of it waits for a person like any other.
    description: `${about.slice(0, MAX_DESCRIPTION)}\n\n${method.toUpperCase()} ${baseUrl}${path}`.trim(),
    parameters,
    body,
    accept: acceptOf(raw, refs),
    input,
  };
}

function inputOf(parameters: readonly Parameter[], body: RequestBody | undefined, converter: SchemaConverter): JsonSchema {
  const all = body === undefined ? parameters : [...parameters, body];
  const required = all.filter((it) => it.required).map(({ argument }) => argument);
  const definitions = converter.definitions();
  return {
    type: 'object',
    properties: Object.fromEntries(all.map(({ argument, schema }) => [argument, schema])),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
    ...(Object.keys(definitions).length === 0 ? {} : { $defs: definitions }),
  };
}
