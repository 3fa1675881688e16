import { createServer, type Server } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { EgressPolicy, egressFetch } from '#sandbox';
import type { ToolContext } from '#tool-sdk';
import { OpenApiConnection } from './openapi-connection.js';
import { readOperations } from './read-operations.js';

const DOCUMENT = { openapi: '3.0.3', info: {}, paths: { '/items': { put: { operationId: 'put', responses: {} } } } };
const NONE = { headers: {}, query: {}, cookies: {}, secrets: [] };

describe('an API that breaks off or garbles its answer after an effect', () => {
  let api: Server;
  let effects = 0;
  afterEach(() => void api.close());

  const call = async (answer: string | Buffer) => {
    effects = 0;
    api = createServer((socket) => {
      socket.once('data', () => {
        effects += 1;
        socket.end(answer);
      });
    });
    await new Promise<void>((done) => api.listen(0, '127.0.0.1', done));
    const host = `127.0.0.1:${(api.address() as AddressInfo).port}`;
    const rules = {
      servers: { url: `http://${host}`, documentUrl: undefined, sameOrigin: false },
      reserved: { headers: new Set<string>(), query: new Set<string>(), cookies: new Set<string>() },
      wanted: () => true,
      maxTools: 10,
    };
    const guarded = egressFetch(new EgressPolicy([host]));
    const connection = new OpenApiConnection({ read: () => readOperations(DOCUMENT, rules), guarded, credentials: NONE });
    try {
      return await connection.call('put', {}, { signal: AbortSignal.timeout(20_000) } as ToolContext);
    } finally {
      await connection.close();
    }
  };

  it.each([
    ['with less than its length', 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"a":'],
    ['in the middle of a chunk', 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nff\r\n{"a":'],
    ['compressed in no known way', 'HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 3\r\n\r\nabc'],
  ])('fails a call without a retry if its API breaks off: %s', async (_what, answer) => {
    await expect(call(answer)).rejects.toMatchObject({ code: 'tool_failed', options: { retryable: false } });
    expect(effects).toBe(1);
  });

  it.each([
    ['JSON that is broken', 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 5\r\n\r\n{"a":'],
    ['a charset that is not known', 'HTTP/1.1 200 OK\r\ncontent-type: application/json; charset=x-none\r\ncontent-length: 5\r\n\r\n{"a":'],
  ])('gives the model the text of %s from an API that breaks off', async (_what, answer) => {
    expect(await call(answer)).toMatchObject({ content: [{ text: expect.stringContaining('{"a":') }] });
    expect(effects).toBe(1);
  });

  it('leaves a call retryable that an API has not answered', async () => {
    await expect(call('')).rejects.toMatchObject({ code: 'unavailable', options: { retryable: true } });
  });
});
