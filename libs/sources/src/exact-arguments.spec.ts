import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseExactJson, type AnnouncedSource, type SourceKind } from '#contracts';
import { BuiltinSource, exactJsonText, ToolRegistry, type ToolContext } from '#tool-sdk';
import { acceptOffer } from './catalog/offered-tool.js';
import { TenantCatalog } from './catalog/tenant-catalog.js';
import { buildRequest } from './openapi/build-request.js';
import type { Operation } from './openapi/operation.js';
import { readOperations } from './openapi/read-operations.js';

const INT64 = { type: 'integer', format: 'int64' };
const DOCUMENT = {
  openapi: '3.0.3',
  info: {},
  paths: {
    '/items/{id}': {
      post: {
        operationId: 'put',
        parameters: [{ name: 'id', in: 'path', required: true, schema: INT64 }],
        requestBody: {
          content: { 'application/json': { schema: { type: 'object', properties: { ids: { type: 'array', items: INT64 } } } } },
        },
        responses: {},
      },
    },
  },
};
const NONE = { headers: {}, query: {}, cookies: {}, secrets: [] };

/** Arguments on their way from the text of a request to the source, without what stands between them. */
describe('arguments of sources', () => {
  let operation: Operation;
  beforeAll(async () => {
    const rules = {
      servers: { url: 'https://api.example.com', documentUrl: undefined, sameOrigin: false },
      reserved: { headers: new Set<string>(), query: new Set<string>(), cookies: new Set<string>() },
      wanted: () => true,
      maxTools: 10,
    };
    const [found] = (await readOperations(DOCUMENT, rules)).operations;
    if (found === undefined) throw new Error('expected an operation');
    operation = found;
  });

  /** The arguments that reach the source; undefined when they are refused. */
  const received = async (kind: SourceKind, json: string): Promise<Readonly<Record<string, unknown>> | undefined> => {
    const offer = acceptOffer([{ rawName: 'put', input: operation.input }], { name: 'x', kind, trust: false });
    const entry = { tenantId: 't', name: 'x', kind, pin: false, origin: 'config', status: 'ok', ...offer } as unknown as AnnouncedSource;
    let got: Readonly<Record<string, unknown>> | undefined;
    const registry = new ToolRegistry(new BuiltinSource(() => []));
    registry.onModuleInit();
    const run = async (_source: unknown, _name: string, args: Readonly<Record<string, unknown>>) => ((got = args), 'done');
    registry.attach(new TenantCatalog({ list: () => [{ entry, pins: {} }], refresh: () => Promise.resolve() }, { run }));
    const view = registry.for('t');
    const [tool] = view.list();
    const read = view.validateArguments(tool?.name ?? '', parseExactJson(json) as Record<string, unknown> | string);
    if (read.ok) await view.source(read.tool.name).call(read.tool.name, read.args, {} as ToolContext);
    return got;
  };

  it('sends an API the digits of any 64-bit integer, as a number, a text of digits or in one JSON text, or refuses them', async () => {
    await fc.assert(
      fc.asyncProperty(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), async (id) => {
        const numbers = `{"id":${id},"body":{"ids":[${id}]}}`;
        for (const json of [numbers, `{"id":"${id}","body":{"ids":["${id}"]}}`, JSON.stringify(numbers)]) {
          const args = await received('openapi', json);
          if (args === undefined) {
            expect([json.includes(`"${id}"`), Number.isSafeInteger(Number(id))]).toEqual([true, true]);
            continue;
          }
          const { url, body } = buildRequest(operation, args, NONE);
          expect([url.pathname, Buffer.from(body ?? []).toString()]).toEqual([`/items/${id}`, `{"ids":[${id}]}`]);
        }
      }),
    );
  });

  it('sends arguments with the names of members that every object has', async () => {
    const args = await received('openapi', '{"id":1,"body":{"constructor":"ferrari","toString":"x"}}');
    const { body } = buildRequest(operation, args ?? {}, NONE);
    expect(Buffer.from(body ?? []).toString()).toBe('{"constructor":"ferrari","toString":"x"}');
  });

  it('passes all digits to programs that read JSON text, and refuses them for libraries that would round them', async () => {
    const json = '{"id":725653563933458433}';
    expect(exactJsonText(await received('mcp', json))).toBe(json);
    expect(exactJsonText(await received('folder', json))).toBe(json);
    for (const kind of ['plugin', 'worker', 'agent'] as const) expect(await received(kind, json)).toBeUndefined();
  });
});
