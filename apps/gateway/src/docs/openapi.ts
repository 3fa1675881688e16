import {
  createDocument,
  type ZodOpenApiObject,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
  type ZodOpenApiResponsesObject,
} from 'zod-openapi';
import { errorEntry, Problem, ROUTES, type ErrorCode, type Route } from '#contracts';

type OpenApiDocument = ReturnType<typeof createDocument>;

/** The OpenAPI 3.1 document of the HTTP door, made from the route table of the contracts. */
export function openApiDocument(version: string): OpenApiDocument {
  return createDocument(
    {
      openapi: '3.1.0',
      info: {
        title: 'Toolyard',
        version,
        description:
          'Runs the tool calls of many LLM agents. Errors are RFC 9457 problems; a refused call carries a result the model can read.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      security: [{ apiKey: [] }],
      components: {
        securitySchemes: { apiKey: { type: 'http', scheme: 'bearer', description: 'An API key with the scope that the operation names.' } },
      },
      paths: pathsOf(ROUTES),
    } satisfies ZodOpenApiObject,
    {
      override: ({ jsonSchema, io }) => {
        // Readers ignore fields they do not know, so no answer may forbid them.
        if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
      },
    },
  );
}

function pathsOf(routes: readonly Route[]): ZodOpenApiPathsObject {
  const paths: ZodOpenApiPathsObject = {};
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method]: operationOf(route) };
  }
  return paths;
}

function operationOf(route: Route): ZodOpenApiOperationObject {
  const { params, query, headers } = route;
  return {
    operationId: route.operationId,
    summary: route.summary,
    tags: [route.tag],
    ...(route.scope === undefined ? { security: [] } : { description: `Needs a key with scope \`${route.scope}\`.` }),
    requestParams: { ...(params && { path: params }), ...(query && { query }), ...(headers && { header: headers }) },
    ...(route.body === undefined ? {} : { requestBody: { required: true, content: { 'application/json': { schema: route.body } } } }),
    responses: { ...successesOf(route), ...problemsOf(route) },
  };
}

function successesOf(route: Route): ZodOpenApiResponsesObject {
  return Object.fromEntries(
    Object.entries(route.responses).map(([status, { description, schema, mediaType = 'application/json', events }]) => [
      status,
      {
        description,
        ...(schema === undefined
          ? {}
          : { content: { [mediaType]: { schema }, ...(events && { 'text/event-stream': { schema: events } }) } }),
      },
    ]),
  );
}

/** Codes that share a status stand in one response. */
function problemsOf(route: Route): ZodOpenApiResponsesObject {
  const all = [...new Set([...route.problems, ...impliedProblems(route)])];
  const statuses = new Set(all.map((code) => errorEntry(code).status));
  return Object.fromEntries(
    [...statuses].map((status) => {
      const codes = all.filter((code) => errorEntry(code).status === status);
      const description = codes.map((code) => `\`${code}\`: ${errorEntry(code).title}`).join('; ');
      return [String(status), { description, content: { 'application/problem+json': { schema: Problem } } }];
    }),
  );
}

/** What may happen at every route that takes such things: parts of the URL that are ill-formed, Redis away, a fault of ours. */
function impliedProblems({ params, query, headers, scope }: Route): ErrorCode[] {
  return [
    ...(params ? (['resource_not_found'] as const) : []),
    ...(params || query || headers ? (['invalid_request'] as const) : []),
    ...(scope === undefined ? [] : (['origin_refused', 'unavailable', 'internal'] as const)),
  ];
}
