import { describe, expect, it } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv } from 'ajv';
import { createRequire } from 'node:module';
import { isDeepStrictEqual } from 'node:util';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { z } from 'zod';
import {
  CALL_ERROR_CODES,
  ClientFrame,
  Problem,
  REQUEST_ERROR_CODES,
  RESPONSE_HEADERS,
  ROUTES,
  SCOPES,
  ServerFrame,
  WorkerFrame,
  WorkerServerFrame,
  WITHOUT_OPERATION,
  type Route,
} from '#contracts';
import { readClientFrame } from '../../streaming/ws/client-frame.js';
import { serverFrames } from '../../streaming/ws/server-frames.js';
import { asyncApiDocument } from './asyncapi.js';
import { openApiDocument } from './openapi.js';

const require = createRequire(import.meta.url);

interface DocumentedOperation {
  readonly security: { readonly apiKey: string[] }[];
  readonly responses: Record<string, DocumentedResponse>;
}
interface DocumentedResponse {
  readonly headers?: object;
  readonly content?: Record<string, { schema: { allOf: { properties?: { code: { enum: string[] } } }[] } }>;
}

interface RequestBody {
  readonly content: Record<string, { examples?: object } | undefined>;
}
interface DocumentedParameter {
  readonly name: string;
  readonly schema: { readonly examples?: unknown[]; readonly enum?: unknown[] };
  readonly example?: unknown;
}

const sorted = (names: readonly string[]) => [...new Set(names)].sort();

type Node = Record<string, unknown>;
const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null;
/** Fields whose values distinguish the variants of a union. */
const DISCRIMINATORS = ['op', 'type', 'kind', 'code'];

/** Rules by which examples must match their schemas; not part of the linter's defaults. */
const EXAMPLE_RULES = { 'no-invalid-parameter-examples': 'error', 'no-invalid-schema-examples': 'error' } as const;

/** Fields and parameters of the document without a description of their own or of their reference. */
function bareIn(document: Node): string[] {
  const target = (ref: string) =>
    ref
      .slice('#/'.length)
      .split('/')
      .reduce<unknown>((node, key) => (isNode(node) ? node[key] : undefined), document);
  const isDescribed = (schema: unknown): boolean => {
    if (!isNode(schema)) return false;
    const { description, $ref, allOf } = schema;
    return (
      typeof description === 'string' ||
      (typeof $ref === 'string' && isDescribed(target($ref))) ||
      (Array.isArray(allOf) && allOf.some(isDescribed))
    );
  };
  const isDiscriminator = (name: string, schema: unknown) =>
    DISCRIMINATORS.includes(name) && isNode(schema) && ('const' in schema || 'enum' in schema);
  const walk = (node: Node, path: string): string[] =>
    Object.entries(node).flatMap(([key, value]) => {
      if (!isNode(value) || key === 'enum' || key === 'examples') return [];
      const named = key === 'properties' ? Object.entries(value) : [];
      const bare = named
        .filter(([name, schema]) => !isDescribed(schema) && !isDiscriminator(name, schema))
        .map(([name]) => `${path}.${name}`);
      const parameter = typeof value['in'] === 'string' && !isDescribed(value) && !isDescribed(value['schema']);
      return [...bare, ...(parameter ? [`${path} ${String(value['name'])}`] : []), ...walk(value, `${path}/${key}`)];
    });
  return walk(document, '');
}

describe('the OpenAPI document', () => {
  const document = openApiDocument('1.2.3');

  it('writes valid OpenAPI 3.1', async () => {
    expect(await new Validator().validate(JSON.parse(JSON.stringify(document)))).toEqual({ valid: true });
  });

  it('passes a public linter with the OpenAPI document', async () => {
    const config = await createConfig({ extends: ['recommended'], rules: EXAMPLE_RULES });
    const findings = await lintFromString({ source: JSON.stringify(document), config });
    const reported = findings.map(({ ruleId, location }) => `${ruleId} at ${location.map(({ pointer }) => pointer).join(', ')}`);
    // The only success of a WebSocket is 101, and of a login a redirect.
    expect(reported.sort()).toEqual([
      'operation-2xx-response at #/paths/~1v1~1login/get/responses',
      'operation-2xx-response at #/paths/~1v1~1login~1callback/get/responses',
      'operation-2xx-response at #/paths/~1v1~1stream/get/responses',
      'operation-2xx-response at #/paths/~1v1~1worker/get/responses',
    ]);
  });

  it('describes every operation in the OpenAPI document', () => {
    const paths = Object.entries(document.paths ?? {}).flatMap(([path, methods]) =>
      Object.entries(methods as Record<string, { readonly description?: string }>).map(([method, { description }]) => ({
        operation: `${method} ${path}`,
        isDescribed: description?.endsWith('.') === true,
      })),
    );
    expect(paths.filter(({ isDescribed }) => !isDescribed).map(({ operation }) => operation)).toEqual([]);
  });

  it('documents every error code, scope and header at the operations where it occurs, and at no other', () => {
    const operations = Object.values(document.paths ?? {}).flatMap((methods) => Object.values(methods) as unknown as DocumentedOperation[]);
    const responses = operations.flatMap((operation) => Object.values(operation.responses));
    const codes = responses.flatMap(({ content }) => content?.['application/problem+json']?.schema.allOf[1]?.properties?.code.enum ?? []);
    const callError = document.components?.schemas?.['CallError'] as unknown as { properties: { code: { enum: string[] } } };
    expect(sorted(callError.properties.code.enum)).toEqual(sorted(CALL_ERROR_CODES));
    expect(sorted([...codes, ...callError.properties.code.enum, ...WITHOUT_OPERATION])).toEqual(
      sorted([...CALL_ERROR_CODES, ...REQUEST_ERROR_CODES]),
    );
    expect(sorted(operations.flatMap(({ security }) => security.flatMap(({ apiKey }) => apiKey)))).toEqual(sorted(SCOPES));
    expect(sorted(responses.flatMap(({ headers = {} }) => Object.keys(headers)))).toEqual(sorted(Object.keys(RESPONSE_HEADERS)));
  });

  it('requires no body and no field that the gateway does not require', () => {
    const body = (path: string) => document.paths?.[path]?.post?.requestBody as { required: boolean };
    expect(['/v1/calls', '/v1/calls/{id}/cancel', '/v1/calls/{id}/replay'].map((path) => body(path).required)).toEqual([
      true,
      false,
      false,
    ]);
    expect(document.components?.schemas?.['SubmitCall']).toMatchObject({ required: ['tool'] });
    // Ignores names of fields and contents of examples, which are no keywords of a schema.
    const keywords = JSON.stringify(document, (key, value: unknown) => {
      if (key === 'example' || key === 'examples') return undefined;
      return key === 'properties' && typeof value === 'object' && value !== null ? Object.values(value) : value;
    });
    expect(keywords).not.toContain('"default":');
  });

  it('lists every route with every success status in the OpenAPI document', () => {
    for (const route of Object.values<Route>(ROUTES)) {
      const operation = document.paths?.[route.path]?.[route.method];
      expect(Object.keys(operation?.responses ?? {})).toEqual(expect.arrayContaining(Object.keys(route.responses)));
    }
  });

  it('describes every field and every parameter', () => {
    expect(bareIn({ ...document })).toEqual([]);
  });

  it('documents every body and answer with an example that the contract accepts', () => {
    const media = Object.entries(ROUTES as Readonly<Record<string, Route>>).flatMap(([operationId, route]) => {
      const operation = document.paths?.[route.path]?.[route.method] as unknown as DocumentedOperation & { requestBody?: RequestBody };
      const body = Object.entries(operation.requestBody?.content ?? {}).map(([type, given]) => ({
        at: `${operationId} body`,
        // The example of a file is a text about it.
        schema: type === 'application/octet-stream' ? z.string() : route.body,
        given,
      }));
      const answers = Object.entries(operation.responses).flatMap(([status, { content = {} }]) =>
        Object.entries(content).map(([type, given]) => {
          const at = `${operationId} ${status} ${type}`;
          if (type === 'application/problem+json') return { at, schema: Problem, given };
          const { schema, events } = route.responses[status] ?? {};
          return { at, schema: type === 'text/event-stream' ? (events ?? schema) : schema, given };
        }),
      );
      return route.tag === 'documents' ? [] : [...body, ...answers];
    });
    expect(media.length).toBeGreaterThan(200);
    const wrong = media.flatMap(({ at, schema, given }) => {
      const examples = Object.values((given as { examples?: Record<string, { value: unknown }> }).examples ?? {});
      if (examples.length === 0) return [`${at}: no example`];
      return examples.flatMap(({ value }) => {
        const parsed = schema?.safeParse(value);
        if (parsed?.success !== true) return [`${at}: ${parsed?.error.message}`];
        // Detects fields that the schema does not know and would drop.
        return at.endsWith('body') || isDeepStrictEqual(parsed.data, value) ? [] : [`${at}: it has fields that are not documented`];
      });
    });
    expect(wrong).toEqual([]);
  });

  it('documents every parameter with an example', () => {
    const bare = Object.entries(document.paths ?? {}).flatMap(([path, methods]) =>
      Object.values(methods as unknown as Record<string, { parameters?: DocumentedParameter[] }>).flatMap(({ parameters = [] }) =>
        parameters
          .filter(({ schema, example }) => example === undefined && schema.examples === undefined && schema.enum === undefined)
          .map(({ name }) => `${path} ${name}`),
      ),
    );
    expect(bare).toEqual([]);
  });

  it('shows a Call as the contract defines it', () => {
    expect(document.components?.schemas?.['Call']).toMatchObject({
      type: 'object',
      required: expect.arrayContaining(['id', 'status', 'submittedAt']),
    });
  });
});

describe('the AsyncAPI document', () => {
  const document = asyncApiDocument('1.2.3');

  it('writes valid AsyncAPI 3.0', () => {
    const schema = require('@asyncapi/specs/schemas/3.0.0-without-$id.json') as object;
    const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false });
    const valid = ajv.validate(schema, document);
    expect({ valid, errors: ajv.errors?.slice(0, 3) ?? [] }).toEqual({ valid: true, errors: [] });
  });

  it('lists one message for each frame of either side in the AsyncAPI document', () => {
    const ops = (union: typeof ClientFrame | typeof ServerFrame | typeof WorkerFrame | typeof WorkerServerFrame) =>
      union.options.map((frame) => frame.shape.op.value);
    expect(Object.keys((document['components'] as { messages: object }).messages).sort()).toEqual(
      [
        ...ops(ClientFrame).map((op) => `client.${op}`),
        ...ops(ServerFrame).map((op) => `server.${op}`),
        ...ops(WorkerFrame).map((op) => `worker.${op}`),
        ...ops(WorkerServerFrame).map((op) => `toWorker.${op}`),
      ].sort(),
    );
  });

  it('documents each frame of the gateway with its purpose', () => {
    const { messages } = document['components'] as { messages: Record<string, { summary?: string }> };
    expect(Object.keys(serverFrames).map((op) => `server.${op}`)).toEqual(
      expect.arrayContaining(Object.keys(messages).filter((name) => name.startsWith('server.'))),
    );
    expect(Object.keys(messages)).toEqual(expect.arrayContaining(Object.keys(serverFrames).map((op) => `server.${op}`)));
    for (const name of Object.keys(messages).filter((name) => name.startsWith('client.'))) {
      const { frame } = readClientFrame(JSON.stringify({ op: name.slice('client.'.length) }));
      expect([name, 'detail' in frame && frame.detail.includes('no known op')]).toEqual([name, false]);
    }
    expect(Object.entries(messages).filter(([, { summary }]) => !summary)).toEqual([]);
  });

  it('passes a public linter with the AsyncAPI document', async () => {
    const config = await createConfig({ extends: ['recommended'] });
    const findings = await lintFromString({ source: JSON.stringify(document), config });
    expect(findings.map(({ ruleId, location }) => `${ruleId} at ${location.map(({ pointer }) => pointer).join(', ')}`)).toEqual([]);
  });

  it('describes every field of every frame', () => {
    expect(bareIn(document)).toEqual([]);
  });
  it('documents each frame with an example that the contract accepts', () => {
    const { messages } = document['components'] as { messages: Record<string, { examples?: { payload: { op: string } }[] }> };
    const unions = { client: ClientFrame, server: ServerFrame, worker: WorkerFrame, toWorker: WorkerServerFrame };
    for (const [side, union] of Object.entries(unions)) {
      for (const op of union.options.map((frame) => frame.shape.op.value)) {
        const [example] = messages[`${side}.${op}`]?.examples ?? [];
        expect([side, op, union.safeParse(example?.payload)]).toMatchObject([side, op, { success: true, data: example?.payload }]);
      }
    }
  });

  it('documents in AsyncAPI the address and the authentication', () => {
    expect(document).toMatchObject({
      servers: { local: { protocol: 'ws', security: [{ $ref: '#/components/securitySchemes/apiKey' }] }, gateway: { protocol: 'wss' } },
      components: { securitySchemes: { apiKey: { type: 'http', scheme: 'bearer' } } },
    });
  });

  it('contains no dangling reference in AsyncAPI, and no field beside a reference that forbids it', () => {
    const text = JSON.stringify(document);
    for (const [, pointer = ''] of text.matchAll(/"\$ref":"#\/([^"]+)"/g)) {
      const target = pointer.split('/').reduce<unknown>((node, key) => (node as Record<string, unknown> | undefined)?.[key], document);
      expect([pointer, target === undefined]).toEqual([pointer, false]);
    }
    expect(text).not.toMatch(/"additionalProperties":false[^{}]*"\$ref"|"\$ref"[^{}]*"additionalProperties":false/);
  });
});
