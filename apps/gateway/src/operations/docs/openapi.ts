import { z } from 'zod';
import {
  createDocument,
  type CreateDocumentOptions,
  type ZodOpenApiMediaTypeObject,
  type ZodOpenApiObject,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
  type ZodOpenApiResponseObject,
  type ZodOpenApiResponsesObject,
} from 'zod-openapi';
import {
  ANY_REQUEST,
  BODY,
  errorEntry,
  KEY,
  LIMITS,
  Problem,
  RESPONSE_HEADERS,
  ROUTES,
  TAGS,
  WITHOUT_OPERATION,
  type ErrorCode,
  type ResponseHeader,
  type Route,
} from '#contracts';
import { codeSamples } from './code-samples.js';
import { ANSWER_EXAMPLES, STREAM_EXAMPLES } from './examples/answers.js';
import { problemExample } from './examples/problems.js';
import { BODY_EXAMPLES, PARAMETER_EXAMPLES } from './examples/requests.js';
import { isNode, tidy } from './tidy.js';

type OpenApiDocument = ReturnType<typeof createDocument>;
type JsonSchema = Parameters<NonNullable<CreateDocumentOptions['override']>>[0]['jsonSchema'];

/** OpenAPI 3.1 document of the HTTP API, created from the route table of the contracts. */
export function openApiDocument(version: string): OpenApiDocument {
  const document = createDocument(
    {
      openapi: '3.1.0',
      info: { title: 'Toolyard', version, description: START_TEXT, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
      servers: [
        { url: '/', description: 'The gateway that serves this document.' },
        { url: 'http://127.0.0.1:7411', description: 'What `npm start` starts.' },
      ],
      tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
      security: [{ apiKey: [] }],
      components: {
        schemas: { Problem },
        headers: Object.fromEntries(
          Object.entries(RESPONSE_HEADERS).map(([name, description]) => [name, { description, schema: { type: 'string' } }]),
        ),
        securitySchemes: { apiKey: { type: 'http', scheme: 'bearer', description: 'An API key with the scope that the operation names.' } },
      },
      paths: pathsOf(ROUTES),
    } satisfies ZodOpenApiObject,
    { override: ({ jsonSchema, io }) => forReaders(jsonSchema, io) },
  );
  tidy(document);
  for (const [path, methods] of Object.entries(document.paths ?? {}))
    for (const [method, operation] of Object.entries(methods)) {
      withExamples(path, operation);
      withSamples(method, path, operation);
    }
  return document;
}

const START_TEXT = `Runs the tool calls of many LLM agents.

1. \`GET /v1/tools?format=anthropic\` (or \`openai\`, \`openai-responses\`, \`mcp\`) gives the tools for a model.
2. \`POST /v1/calls\` with the model's tool call and \`Prefer: wait=10\` answers 200 with the ended call, whose \`result.content\` goes back to the model, or 202 with a call that goes on.
3. \`GET /v1/calls/{id}?wait=30\` waits for its end; \`GET /v1/calls/{id}/events\` with \`Accept: text/event-stream\` shows every step live, as does the WebSocket \`/v1/stream\` ([its frames](docs/stream), \`/asyncapi.json\`).
4. A refused call is answered with a problem (RFC 9457) that has a \`result\` for the model, too.

Every operation lists its errors. A path asked with a method that it does not have answers 405 (${codes(WITHOUT_OPERATION)}) with the header \`Allow\`. HEAD works where GET does. JSON bodies have at most ${LIMITS.bodyBytes} bytes, ${LIMITS.jsonDepth} levels, and ${LIMITS.jsonParts} members and items in all.`;

/** Adapts the schema to generators of clients. */
function forReaders(jsonSchema: JsonSchema, io: 'input' | 'output'): void {
  // Clients ignore unknown fields, so no response may forbid them.
  if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
  // Keys of JSON are strings anyway.
  if (JSON.stringify(jsonSchema.propertyNames) === '{"type":"string"}') delete jsonSchema.propertyNames;
}

/** Adds a missing example to each parameter. */
function withExamples(path: string, operation: unknown): void {
  if (!isNode(operation) || !Array.isArray(operation['parameters'])) return;
  for (const parameter of operation['parameters']) {
    if (!isNode(parameter) || !isNode(parameter['schema']) || 'examples' in parameter['schema']) continue;
    const name = String(parameter['name']);
    const collection = path.split(`/{${name}}`)[0]?.split('/').at(-1);
    const example = (parameter['in'] === 'path' ? PARAMETER_EXAMPLES[`${collection}/{${name}}`] : undefined) ?? PARAMETER_EXAMPLES[name];
    const isList = parameter['schema']['type'] === 'array' && !Array.isArray(example);
    if (example !== undefined) parameter['example'] = isList ? [example] : example;
  }
}

function withSamples(method: string, path: string, operation: unknown): void {
  if (!isNode(operation)) return;
  const samples = codeSamples(method, path, operation);
  if (samples.length > 0) operation['x-codeSamples'] = samples;
}

function pathsOf(routes: Readonly<Record<string, Route>>): ZodOpenApiPathsObject {
  const paths: ZodOpenApiPathsObject = {};
  for (const [operationId, route] of Object.entries(routes)) {
    paths[route.path] = { ...paths[route.path], [route.method]: operationOf(operationId, route) };
  }
  return paths;
}

function operationOf(operationId: string, route: Route): ZodOpenApiOperationObject {
  const { params, query, headers, scope, body, bodyOptional, bodyMediaType = 'application/json' } = route;
  const needs = scope === undefined ? undefined : `Needs a key with the scope \`${scope}\`.`;
  const description = [route.description, needs].filter(Boolean).join(' ');
  return {
    operationId,
    summary: route.summary,
    ...(description === '' ? {} : { description }),
    tags: [route.tag],
    security: scope === undefined ? [] : [{ apiKey: [scope] }],
    requestParams: { ...(params && { path: params }), ...(query && { query }), ...(headers && { header: headers }) },
    ...(body === undefined
      ? {}
      : { requestBody: { required: bodyOptional !== true, content: { [bodyMediaType]: mediaOf(body, BODY_EXAMPLES[operationId]) } } }),
    responses: merged(successesOf(operationId, route), problemsOf(route)),
  };
}

type Responses = Readonly<Record<string, ZodOpenApiResponseObject>>;

/** Merges problems into documented responses: a status with a body of its own may also have a problem. */
function merged(documented: Responses, problems: Responses): ZodOpenApiResponsesObject {
  const byStatus = new Map(Object.entries(documented));
  for (const [status, problem] of Object.entries(problems)) {
    const own = byStatus.get(status);
    const both = { description: `${own?.description ?? ''} ${problem.description}`, content: { ...own?.content, ...problem.content } };
    byStatus.set(status, own === undefined ? problem : { ...problem, ...both });
  }
  return Object.fromEntries(byStatus);
}

function successesOf(operationId: string, { responses, scope }: Route): Responses {
  return Object.fromEntries(
    Object.entries(responses).map(([status, { description, schema, mediaType = 'application/json', events, headers = [] }]) => [
      status,
      {
        description,
        ...headersOf([...headers, ...(scope === undefined ? [] : RATE)]),
        ...(schema === undefined
          ? {}
          : {
              content: {
                [mediaType]: mediaOf(schema, ANSWER_EXAMPLES[operationId]?.[Number(status)]),
                ...(events && { 'text/event-stream': mediaOf(events, STREAM_EXAMPLES[operationId]) }),
              },
            }),
      } satisfies ZodOpenApiResponseObject,
    ]),
  );
}

/** Adds examples where many tools look for them, besides the schema. */
function mediaOf(schema: z.ZodType, example?: unknown): ZodOpenApiMediaTypeObject {
  const examples = example === undefined ? (z.globalRegistry.get(schema)?.examples ?? []) : [example];
  if (!Array.isArray(examples) || examples.length === 0) return { schema };
  return { schema, examples: Object.fromEntries(examples.map((value: unknown, at) => [`example${at + 1}`, { value }])) };
}

const RATE: readonly ResponseHeader[] = ['RateLimit-Policy', 'RateLimit'];
const OF_PROBLEM: Readonly<Record<number, readonly ResponseHeader[]>> = {
  401: ['WWW-Authenticate'],
  416: ['Accept-Ranges', 'Content-Range'],
  426: ['Upgrade'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

function headersOf(names: readonly ResponseHeader[]): Pick<ZodOpenApiResponseObject, 'headers'> {
  if (names.length === 0) return {};
  return { headers: Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }])) };
}

/** Problems of a route by status: codes with the same status share a response. */
function problemsOf(route: Route): Responses {
  const all = [...new Set([...route.problems, ...impliedProblems(route)])];
  const statuses = new Set(all.map((code) => errorEntry(code).status));
  const rate = route.scope === undefined ? [] : RATE;
  return Object.fromEntries(
    [...statuses].map((status) => {
      const ofStatus = all.filter((code) => errorEntry(code).status === status);
      const known = status < 403 ? [] : rate;
      const schema = {
        allOf: [{ $ref: '#/components/schemas/Problem' }, { type: 'object' as const, properties: { code: { enum: ofStatus } } }],
      };
      const response: ZodOpenApiResponseObject = {
        description: codes(ofStatus),
        ...headersOf([...(OF_PROBLEM[status] ?? []), ...known]),
        content: {
          'application/problem+json': {
            schema,
            examples: Object.fromEntries(ofStatus.map((code) => [code, { value: problemExample(code) }])),
          },
        },
      };
      return [String(status), response];
    }),
  );
}

function codes(list: readonly ErrorCode[]): string {
  return list.map((code) => `\`${code}\`: ${errorEntry(code).title}`).join('; ');
}

/** Problems implied by the parts of a route: malformed parts of the URL, unreachable Redis, internal errors. */
function impliedProblems({ method, params, scope }: Route): ErrorCode[] {
  return [
    ...ANY_REQUEST,
    ...(params ? (['resource_not_found'] as const) : []),
    ...(method === 'get' ? [] : ([...BODY, 'overloaded'] as const)),
    ...(scope === undefined ? [] : ([...KEY, 'unavailable'] as const)),
  ];
}
