import { describe, expect, it } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv } from 'ajv';
import { createRequire } from 'node:module';
import { ClientFrame, ServerFrame, ROUTES } from '#contracts';
import { asyncApiDocument } from './asyncapi.js';
import { openApiDocument } from './openapi.js';

const require = createRequire(import.meta.url);

describe('the OpenAPI document', () => {
  const document = openApiDocument('1.2.3');

  it('is valid OpenAPI 3.1', async () => {
    expect(await new Validator().validate(JSON.parse(JSON.stringify(document)))).toEqual({ valid: true });
  });

  it('has every route with every success status', () => {
    for (const route of ROUTES) {
      const operation = document.paths?.[route.path]?.[route.method];
      expect(Object.keys(operation?.responses ?? {})).toEqual(expect.arrayContaining(Object.keys(route.responses)));
    }
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

  it('is valid AsyncAPI 3.0', () => {
    const schema = require('@asyncapi/specs/schemas/3.0.0-without-$id.json') as object;
    const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false });
    const valid = ajv.validate(schema, document);
    expect({ valid, errors: ajv.errors?.slice(0, 3) ?? [] }).toEqual({ valid: true, errors: [] });
  });

  it('has one message for each frame of either side', () => {
    const ops = (union: typeof ClientFrame | typeof ServerFrame) => union.options.map((frame) => frame.shape.op.value);
    expect(Object.keys((document['components'] as { messages: object }).messages).sort()).toEqual(
      [...ops(ClientFrame).map((op) => `client.${op}`), ...ops(ServerFrame).map((op) => `server.${op}`)].sort(),
    );
  });

  it('has no dangling reference', () => {
    const text = JSON.stringify(document);
    for (const [, pointer = ''] of text.matchAll(/"\$ref":"#\/([^"]+)"/g)) {
      const target = pointer.split('/').reduce<unknown>((node, key) => (node as Record<string, unknown> | undefined)?.[key], document);
      expect([pointer, target === undefined]).toEqual([pointer, false]);
    }
  });
});
