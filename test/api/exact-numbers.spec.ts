import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Call } from '#contracts';
import { rawMcpServer, type RawMcpServer } from '../../libs/sources/src/testing/raw-mcp-server.js';
import { useTenant, type Tenant } from '../support/installation/use-tenant.js';

const ID = '725653563933458433';
const INT64 = { type: 'integer', format: 'int64' };
const item = (schema: object) => ({ name: 'id', in: 'path', required: true, schema });
const DOCUMENT = {
  openapi: '3.1.0',
  info: { title: 'Items', version: '1' },
  paths: {
    '/items/{id}': { get: { operationId: 'item', parameters: [item(INT64)], responses: {} } },
    '/small/{id}': { get: { operationId: 'small', parameters: [item({ ...INT64, maximum: 1000 })], responses: {} } },
    '/items': {
      post: {
        operationId: 'add',
        parameters: [
          { name: 'ids', in: 'query', schema: { type: 'array', items: INT64 } },
          { name: 'filter', in: 'query', content: { 'application/json': { schema: { type: 'object', properties: { id: INT64 } } } } },
        ],
        requestBody: {
          content: {
            'application/json': {
              schema: {
                type: 'object',
                properties: { id: { $ref: '#/components/schemas/Id' }, price: { type: 'number' }, name: { type: 'string' } },
              },
            },
          },
        },
        responses: {},
      },
    },
  },
  components: { schemas: { Id: { anyOf: [INT64, { type: 'null' }] } } },
};

/** Numbers with more digits than a double holds, in all three forms in which agents send arguments. */
describe('numbers beyond those of JavaScript', () => {
  const folder = mkdtempSync(join(tmpdir(), 'toolyard-exact-'));
  const seen: { url: string; body: string }[] = [];
  let api: Server;
  let mcp: RawMcpServer;
  let tenant: Tenant;
  beforeAll(async () => {
    api = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        seen.push({ url: request.url ?? '', body });
        response.writeHead(200, { 'content-type': 'application/json' }).end(`{"id":${ID},"price":0.1234567890123456789}`);
      });
    });
    await new Promise<void>((done) => api.listen(0, '127.0.0.1', done));
    writeFileSync(join(folder, 'items.json'), JSON.stringify(DOCUMENT));
    mcp = await rawMcpServer('json', `{"jsonrpc":"2.0","id":ID,"result":{"content":[],"structuredContent":{"id":${ID}}}}`, {
      name: 't',
      inputSchema: { type: 'object', properties: { id: { type: 'integer' } } },
      outputSchema: { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] },
    });
    const url = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
    tenant = await useTenant('exact-numbers', {
      sources: [
        { name: 'api', kind: 'openapi', path: join(folder, 'items.json'), url, trust: true },
        { name: 'ids', kind: 'mcp', ...mcp.definition },
      ],
    });
  });
  afterAll(async () => {
    await tenant?.close();
    api?.close();
    mcp?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** The arguments as they are, as numbers in JSON and as one text. */
  const send = async (tool: string, args: string): Promise<Call> => {
    const body = `{"tool":"${tool}","sessionId":"exact","arguments":${args}}`;
    const { body: answer } = await tenant.agent.request('POST', '/v1/calls', body, { prefer: 'wait=30' });
    return answer;
  };
  const FORMS = [
    ['a number', (args: string) => args],
    ['a text of digits', (args: string) => args.replaceAll(ID, `"${ID}"`)],
    ['one JSON text', (args: string) => JSON.stringify(args)],
  ] as const;

  it.each(FORMS)('sends numbers beyond a double to an API exactly in its path, given as %s', async (_form, form) => {
    const call = await send('item', form(`{"id":${ID}}`));
    expect([call.outcome, seen.at(-1)?.url]).toEqual(['completed', `/items/${ID}`]);
  });

  it.each(FORMS)('sends numbers beyond a double to an API exactly in query and body, as numbers, given as %s', async (_form, form) => {
    const call = await send('add', form(`{"ids":[1,${ID}],"filter":{"id":${ID}},"body":{"id":${ID},"name":"x"}}`));
    const url = `/items?ids=1&ids=${ID}&filter=${encodeURIComponent(`{"id":${ID}}`)}`;
    expect([call.outcome, seen.at(-1)]).toEqual(['completed', { url, body: `{"id":${ID},"name":"x"}` }]);
  });

  it.each(['0.1234567890123456789', '1e400'])('sends a fraction to an API exactly, or refuses it: %s', async (price) => {
    for (const args of [`{"body":{"price":${price}}}`, JSON.stringify(`{"body":{"price":${price}}}`)]) {
      const before = seen.length;
      const call = await send('add', args);
      // Refused, or sent as it is.
      expect(call.outcome === 'completed' ? seen.at(-1)?.body : seen.length).toEqual(
        call.outcome === 'completed' ? `{"price":${price}}` : before,
      );
    }
  });

  it('keeps large numbers as texts for text arguments, and refuses them beyond the bounds of a schema', async () => {
    await send('add', `{"body":{"name":"${ID}"}}`);
    expect(seen.at(-1)?.body).toBe(`{"name":"${ID}"}`);
    expect(await send('small', `{"id":${ID}}`)).toMatchObject({ code: 'invalid_arguments' });
  });

  it.each(FORMS)('sends numbers beyond a double to an MCP server exactly, given as %s', async (_form, form) => {
    expect((await send('ids__t', form(`{"id":${ID}}`))).outcome).toBe('completed');
    expect(mcp.requests().at(-1)).toContain(`"arguments":{"id":${ID}}`);
  });

  it('shows large numbers of answers exactly to the model and to programs', async () => {
    const [api, server] = [await send('item', '{"id":1}'), await send('ids__t', '{"id":1}')];
    expect(api.result?.structuredContent).toEqual({ id: ID, price: '0.1234567890123456789' });
    expect(JSON.stringify(api.result?.content)).toContain(ID);
    expect([server.outcome, server.result?.structuredContent]).toEqual(['completed', { id: ID }]);
    expect(JSON.stringify(server.result?.content)).toContain(ID);
  });

  it('refuses numbers beyond a double for tools that cannot receive them', async () => {
    const sleep = await send('sleep', `{"ms":${ID}}`);
    expect(JSON.stringify(sleep)).toContain('invalid_arguments');
    expect(JSON.stringify(sleep)).toContain(ID);
  });
});
