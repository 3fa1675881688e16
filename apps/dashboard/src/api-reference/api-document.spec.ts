import { describe, expect, it } from '@jest/globals';
import {
  fieldsOf,
  foundIn,
  groupsOf,
  innerSchemas,
  requestOf,
  resolved,
  streamsOnly,
  typeText,
  type ApiDocument,
  type Operation,
} from './api-document.js';

const operation = (more: object): Operation => ({
  operationId: 'getThing',
  summary: 'One thing',
  tags: ['things'],
  security: [{ apiKey: ['read'] }],
  responses: { 200: { description: 'It.', content: { 'application/json': {} } } },
  method: 'GET',
  path: '/v1/things/{id}',
  ...more,
});
const document: ApiDocument = {
  info: { version: '1', description: '' },
  tags: [
    { name: 'empty', description: '' },
    { name: 'things', description: 'Things.' },
  ],
  paths: { '/v1/things/{id}': { get: operation({}), delete: operation({ operationId: 'deleteThing', summary: 'Delete a thing' }) } },
  components: {
    schemas: {
      Thing: {
        type: 'object',
        properties: { name: { type: 'string' }, parts: { type: 'array', items: { $ref: '#/components/schemas/Thing' } } },
      },
      Kind: { type: 'string', enum: ['a', 'b'], description: 'Which.' },
      Named: { allOf: [{ $ref: '#/components/schemas/Thing' }, { properties: { code: { enum: ['a', 'b'] } }, required: ['code'] }] },
    },
  },
};
const thing = { $ref: '#/components/schemas/Thing' };

describe('the document of the API', () => {
  it('groups operations by tag and finds them by all words', () => {
    const groups = groupsOf(document);
    expect(groups.map(({ name, operations }) => [name, operations.map(({ method }) => method)])).toEqual([['things', ['GET', 'DELETE']]]);
    expect(foundIn(groups, 'things DELETE').flatMap(({ operations }) => operations.map((it) => it.operationId))).toEqual(['deleteThing']);
    expect(foundIn(groups, 'things nothing')).toEqual([]);
  });

  it('names types, and resolves references and all parts of a schema', () => {
    expect(typeText({ type: 'array', items: { anyOf: [thing, { type: 'null' }] } })).toBe('(Thing | null)[]');
    expect(typeText({ enum: ['allow', 'deny'] })).toBe('"allow" | "deny"');
    expect(typeText({ type: 'object', additionalProperties: thing })).toBe('map of Thing');
    const named = resolved({ $ref: '#/components/schemas/Named' }, document);
    expect([Object.keys(named.properties ?? {}), named.required]).toEqual([['name', 'parts', 'code'], ['code']]);
    const [field] = fieldsOf({ properties: { kind: { $ref: '#/components/schemas/Kind' } } }, document);
    expect(field).toMatchObject({ name: 'kind', type: '"a" | "b"', about: 'Which.', isRequired: false });
    expect(innerSchemas({ type: 'array', items: thing }, document)).toEqual([{ name: 'Thing', schema: thing }]);
  });

  it('builds a request from the entered fields: encoded, without empty ones, with the body unchanged', () => {
    const parameters = [
      { in: 'path', name: 'id', required: true, schema: {} },
      { in: 'query', name: 'q', schema: {} },
      { in: 'header', name: 'Prefer', schema: {} },
      { in: 'header', name: 'Idempotency-Key', schema: {} },
    ];
    const put = operation({ method: 'PUT', parameters, requestBody: { content: { 'application/json': {} } } });
    const entered = { 'path:id': 'a/b', 'query:q': 'x&y', 'header:Prefer': 'wait=1', 'header:Idempotency-Key': ' ' };
    expect(requestOf(put, entered, '{"n": 12345678901234567890}')).toEqual({
      method: 'PUT',
      path: '/v1/things/a%2Fb?q=x%26y',
      needsKey: true,
      headers: { 'Content-Type': 'application/json', Prefer: 'wait=1' },
      body: '{"n": 12345678901234567890}',
      streams: false,
    });
  });

  it('marks answers that are endless streams', () => {
    expect(streamsOnly(operation({}))).toBe(false);
    expect(streamsOnly(operation({ responses: { 101: { description: '' } } }))).toBe(true);
    expect(streamsOnly(operation({ responses: { 200: { description: '', content: { 'text/event-stream': {} } } } }))).toBe(true);
  });
});
