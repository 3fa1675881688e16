import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { JsonSchema } from '#contracts';
import { fieldsOf, listOf, textOf, type Fields } from '../fields.js';
import { DocumentRefs } from './document-refs.js';
import { SchemaConverter, type PartsBudget } from './json-schema.js';
import { METHODS, type Method, type Operation, type Parameter, type RequestBody } from './operation.js';
import { readBody } from './read-body.js';
import { readParameters, type Reserved } from './read-parameters.js';
import { serverOf, type ServerRules } from './servers.js';

/** All schemas of a document together: what a hostile one may cost. */
const MAX_PARTS = 3_000_000;
const MAX_OPERATIONS = 20_000;
const MAX_PROBLEMS = 50;
const MAX_DESCRIPTION = 8_000;

export interface ReadRules {
  readonly servers: ServerRules;
  readonly reserved: Reserved;
  /** The operations that become tools. */
  readonly wanted: (operation: {
    readonly name: string;
    readonly method: Method;
    readonly path: string;
    readonly tags: readonly string[];
  }) => boolean;
  readonly maxTools: number;
}

export interface ReadOperations {
  readonly operations: readonly Operation[];
  /** Operations that were left out, with the reason. */
  readonly problems: readonly string[];
}

interface Found {
  readonly method: Method;
  readonly path: string;
  readonly pathItem: Fields;
  readonly raw: Fields;
  readonly tags: readonly string[];
}

/**
 * The operations of an OpenAPI 3.0 or 3.1 document: 1. list  2. name  3. choose  4. convert, one after the other, so that
 * a large document does not hold up the process. @throws Error when it is no such document
 */
export async function readOperations(document: unknown, rules: ReadRules, signal?: AbortSignal): Promise<ReadOperations> {
  const root = fieldsOf(document);
  assertVersion(root);
  const refs = new DocumentRefs(root);
  const found = listed(root, refs);
  const names = namesOf(found);
  const problems: string[] = [];
  const operations: Operation[] = [];
  const budget: PartsBudget = { left: MAX_PARTS };
  const wanted = found.map((it, index) => ({ it, name: names[index] ?? '' })).filter(({ it, name }) => rules.wanted({ ...it, name }));
  if (wanted.length > rules.maxTools)
    problems.push(`${wanted.length} operations, of which ${rules.maxTools} are taken: use include, tags, methods or maxTools`);
  for (const { it, name } of wanted.slice(0, rules.maxTools)) {
    signal?.throwIfAborted();
    await setImmediate();
    try {
      operations.push(operationOf(it, name, { root, refs, rules, converter: new SchemaConverter(refs, budget) }));
    } catch (error) {
      problems.push(`${it.method.toUpperCase()} ${it.path}: ${error instanceof Error ? error.message : String(error)}`.slice(0, 500));
    }
  }
  return { operations, problems: problems.slice(0, MAX_PROBLEMS) };
}

function assertVersion({ openapi, swagger }: Fields): void {
  if (typeof openapi === 'string' && /^3\.[01](\.|$)/.test(openapi)) return;
  const version = textOf(openapi) ?? textOf(swagger) ?? 'none';
  throw new Error(`expected an OpenAPI document of version 3.0 or 3.1; received the version ${version.slice(0, 20)}`);
}

function listed(root: Fields, refs: DocumentRefs): Found[] {
  const found: Found[] = [];
  for (const [path, item] of Object.entries(fieldsOf(root['paths']))) {
    if (!path.startsWith('/')) continue;
    const pathItem = refs.resolve(item);
    for (const method of METHODS) {
      if (pathItem[method] === undefined || found.length >= MAX_OPERATIONS) continue;
      const raw = fieldsOf(pathItem[method]);
      const tags = listOf(raw['tags']).filter((tag): tag is string => typeof tag === 'string');
      found.push({ method, path, pathItem, raw, tags });
    }
  }
  return found;
}

/** `operationId`, else method and path, as tool names allow. Names that two operations would have get a digest of method and path. */
function namesOf(found: readonly Found[]): string[] {
  const readable = found.map(({ raw, method, path }) => {
    const words = (textOf(raw['operationId']) ?? `${method}_${path}`).replace(/[^A-Za-z0-9_-]+/g, '_');
    return words.replace(/^[^A-Za-z]+|_+$/g, '').slice(0, 100) || method;
  });
  const count = new Map<string, number>();
  for (const name of readable) count.set(name, (count.get(name) ?? 0) + 1);
  return found.map(({ method, path }, index) => {
    const name = readable[index] ?? '';
    if (count.get(name) === 1) return name;
    return `${name}_${createHash('sha256').update(`${method} ${path}`).digest('hex').slice(0, 8)}`;
  });
}

interface Context {
  readonly root: Fields;
  readonly refs: DocumentRefs;
  readonly rules: ReadRules;
  readonly converter: SchemaConverter;
}

function operationOf({ method, path, pathItem, raw, tags }: Found, name: string, context: Context): Operation {
  const { root, refs, rules, converter } = context;
  const parameters = readParameters(pathItem, raw, { refs, converter, reserved: rules.reserved });
  const missing = [...path.matchAll(/\{([^{}]+)\}/g)].find(([, it]) => !parameters.some((one) => one.in === 'path' && one.name === it));
  if (missing !== undefined) throw new Error(`the document does not describe the path parameter ${missing[1]}`);
  const body = readBody(raw, new Set(parameters.map(({ argument }) => argument)), refs, converter);
  const baseUrl = serverOf([raw, pathItem, root], rules.servers);
  const summary = textOf(raw['summary']);
  const about = [...new Set([summary, textOf(raw['description'])])].filter((it) => it !== undefined).join('\n\n');
  return {
    name,
    method,
    path,
    baseUrl,
    tags,
    label: (summary ?? name).slice(0, 200),
    // The request is a part of the description, so that a change of it waits for a person like any other.
    description: `${about.slice(0, MAX_DESCRIPTION)}\n\n${method.toUpperCase()} ${baseUrl}${path}`.trim(),
    parameters,
    body,
    input: inputOf(parameters, body, converter),
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
