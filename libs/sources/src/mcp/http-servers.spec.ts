import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from '@jest/globals';
import { SourceDefinition, type StoredSource } from '#contracts';
import type { ToolContext } from '#tool-sdk';
import { SharedConnection } from '../host/shared-connection.js';
import { httpMcpServer, usualAnswer, type Answering, type HttpMcpMessage, type HttpMcpServer } from '../testing/http-mcp-server.js';
import { eventually } from '../../../../test/support/eventually.js';
import { mcpConnector } from '../testing/mcp-connector.js';

const DONE = { content: [{ type: 'text', text: 'done' }] };
const NO_EVENT = { 'content-type': 'text/event-stream' };
const json =
  (status: number, body: unknown): Answering =>
  (_message, _request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    return true;
  };
/** Messages of a server during a call, well-formed and odd. */
const events = (messages: readonly object[]) => messages.map((it) => `data: ${JSON.stringify({ jsonrpc: '2.0', ...it })}\n\n`).join('');
const QUESTIONS = events([
  { id: 1, method: 'ping' },
  { id: 'p', method: 'ping', params: null },
  { id: 's1', method: 'roots/list' },
  { id: 's2', method: 'sampling/createMessage', params: {} },
  { id: 's3', method: 'elicitation/create', params: { mode: 'odd', message: 7 } },
  { id: 's4', method: 'x/unknown' },
]);
const NOTICES = events([
  { method: 'notifications/progress', params: { progressToken: 'x', progress: 'half' } },
  { method: 'notifications/message', params: { level: 'loud', data: { a: 1 } } },
  { method: 'notifications/cancelled', params: { requestId: null } },
  { method: 'notifications/odd', params: 'text' },
  { method: '' },
]);
const NOT_FOUND = { jsonrpc: '2.0', id: null, error: { code: -32_001, message: 'Session not found' } };

describe('McpConnector over HTTP', () => {
  let server: HttpMcpServer | undefined;
  let shared: SharedConnection | undefined;
  let changes = 0;
  afterEach(async () => {
    changes = 0;
    await shared?.close();
    server?.close();
  });

  const serve = async (answering: Answering): Promise<HttpMcpServer> => {
    server = await httpMcpServer(answering);
    const connector = mcpConnector([server.host]);
    const definition = SourceDefinition.parse({ name: 'x', kind: 'mcp', url: server.url });
    const stored: StoredSource = { tenantId: 't', origin: 'api', definition };
    shared = new SharedConnection(stored, connector, { onChange: () => (changes += 1), onLost: () => {} }, () => 0);
    return server;
  };
  const call = () => {
    const ctx = { signal: AbortSignal.timeout(30_000), deadline: Date.now() + 30_000, onProgress: () => {} } as unknown as ToolContext;
    return shared?.use((connection) => connection.call('t', {}, ctx));
  };
  const list = () => shared?.use((connection) => connection.list(AbortSignal.timeout(30_000)));

  it.each([
    ['500', json(500, { error: 'odd' })],
    ['403', json(403, { error: 'no' })],
    ['502', json(502, 'bad gateway')],
    ['an error without id', json(200, { jsonrpc: '2.0', id: null, error: { code: -32_600, message: 'Missing ID field' } })],
    ['a page', (_message, _request, response) => Boolean(response.setHeader('content-type', 'text/html').end('<p>hello</p>'))],
    ['no content', (_message, _request, response) => Boolean(response.writeHead(204).end())],
    ['nothing', () => true],
    ['a closed connection', (_message, request) => Boolean(request.socket.destroy())],
  ] satisfies [string, Answering][])(
    'speaks an older revision with a server that answers the newer one with %s',
    async (_what, answering) => {
      await serve((message, ...rest) => message?.method === 'server/discover' && answering(message, ...rest));
      expect(await list()).toMatchObject({ tools: [{ rawName: 't' }] });
      expect(await call()).toMatchObject(DONE);
    },
  );

  it.each(['2024-11-05', '2025-03-26'])(
    'names the revision %s that was agreed on, to a server that refuses every other one',
    async (version) => {
      await serve((message, request, response) => {
        const named = request.headers['mcp-protocol-version'];
        if (named !== undefined && named !== version)
          return json(400, {
            jsonrpc: '2.0',
            id: null,
            error: { code: -32_000, message: `Bad Request: Unsupported protocol version: ${String(named)}` },
          })(message, request, response);
        if (message?.method !== 'initialize') return false;
        const result = { protocolVersion: version, capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } };
        return json(200, { jsonrpc: '2.0', id: message.id, result })(message, request, response);
      });
      expect(await list()).toMatchObject({ tools: [{ rawName: 't' }] });
      expect(await call()).toMatchObject(DONE);
    },
  );

  it('agrees on an older revision with a server that refuses newer ones without naming its own', async () => {
    await serve((message, request, response) => {
      if (message?.method !== 'initialize') return false;
      const { protocolVersion } = (message as unknown as { params: { protocolVersion: string } }).params;
      if (protocolVersion === '2025-03-26')
        return json(200, { jsonrpc: '2.0', id: message.id, result: { protocolVersion, capabilities: { tools: {} } } })(
          message,
          request,
          response,
        );
      const error = {
        code: -32_602,
        message: 'Unsupported protocol version',
        data: { supported: ['2025-03-26'], requested: protocolVersion },
      };
      return json(200, { jsonrpc: '2.0', id: message.id, error })(message, request, response);
    });
    expect(await list()).toMatchObject({ tools: [{ rawName: 't' }] });
  });

  it('reports that a server requires credentials, and asks it once', async () => {
    const { methods } = await serve(json(401, { error: 'who are you' }));
    await expect(list()).rejects.toThrow(/requires authorization.*401/);
    expect(methods).toEqual(['server/discover']);
  });

  describe('with a session', () => {
    /** Knows the sessions that it began since `forget`. */
    const sessions = async (lost: Answering) => {
      let [begun, known] = [0, ''];
      const served = await serve((message, request, response) => {
        if (message?.method === 'initialize') response.setHeader('mcp-session-id', (known = `s${(begun += 1)}`));
        else if (message?.method !== 'server/discover' && request.headers['mcp-session-id'] !== known)
          return lost(message, request, response);
        return false;
      });
      return { served, forget: () => (known = 'none'), begun: () => begun };
    };

    it.each([
      ['404', json(404, NOT_FOUND)],
      [
        '400 as no valid session',
        json(400, { ...NOT_FOUND, error: { code: -32_000, message: 'Bad Request: No valid session ID provided' } }),
      ],
      ['400 as not initialized', json(400, { ...NOT_FOUND, error: { code: -32_000, message: 'Bad Request: Server not initialized' } })],
      ['410', json(410, { error: 'gone' })],
      ['403 as an expired session', json(403, { error: 'The session has expired' })],
      ['409 as an unknown session', json(409, { error: { message: 'Unknown session' } })],
      ['422 as an invalid session', json(422, 'Invalid session ID')],
      ['403 as a session that does not exist', json(403, { error: "Session doesn't exist" })],
      ['403 as no session', json(403, 'No session found')],
      ['403 as a session of its id', json(403, { error: 'Session s1 has expired' })],
      ['409 in capitals', json(409, { code: 'SESSION_EXPIRED' })],
      ['422 with low lines', json(422, { error: 'session_not_found' })],
      ['422 in one word', json(422, { error: 'SessionNotFound' })],
      [
        '404 with a page',
        (_message, _request, response) => Boolean(response.writeHead(404, { 'content-type': 'text/html' }).end('<p>no</p>')),
      ],
      ['404 without words', (_message, _request, response) => Boolean(response.writeHead(404).end())],
    ] satisfies [string, Answering][])('reopens a session before the next call when the server forgot it: %s', async (_what, lost) => {
      const { served, forget, begun } = await sessions(lost);
      expect(await call()).toMatchObject(DONE);
      forget();
      await expect(call()).rejects.toMatchObject({ code: 'unavailable', options: { retryable: true } });
      expect(await call()).toMatchObject(DONE);
      expect([served.effects(), begun()]).toEqual([2, 2]);
      forget();
      await expect(list()).rejects.toThrow(/Error POSTing/);
      expect(await list()).toMatchObject({ tools: [{ rawName: 't' }] });
    });

    it.each([
      'Session not found: s1',
      'Session s1 not found',
      'Session "s1" has expired',
      'Could not find session s1',
      'Session no longer exists',
      "Session 0f9a-b3c1: can't be found",
    ])('reopens a session after a 500 answer without retrying the call, since the error may mean the session: %s', async (error) => {
      const { served, forget, begun } = await sessions(json(500, { error }));
      expect(await call()).toMatchObject(DONE);
      forget();
      await expect(call()).rejects.toMatchObject({ code: 'tool_failed', options: { retryable: false } });
      expect(await call()).toMatchObject(DONE);
      expect([served.effects(), begun()]).toEqual([2, 2]);
    });

    it.each([
      [-32_001, 'Session not found'],
      [-32_000, 'Bad Request: No valid session ID provided'],
      [-32_000, 'Bad Request: Server not initialized'],
      [-32_600, 'Session expired'],
      [-32_600, 'Session s1 not found'],
      [-32_000, 'No active session'],
      [-32_002, 'Server not initialized'],
      [-32_002, 'Session not found'],
      [-32_603, 'Session not found'],
      [-32_603, 'Internal error: McpSessionNotFound'],
      [-32_602, 'Received request before initialization was complete'],
    ])('reopens a session after a call error about the session, without retrying the call: %d %s', async (code, message) => {
      const { served, forget, begun } = await sessions((asked, ...rest) =>
        json(200, { jsonrpc: '2.0', id: asked?.id, error: { code, message } })(asked, ...rest),
      );
      expect(await call()).toMatchObject(DONE);
      forget();
      await expect(call()).rejects.toMatchObject({ code: 'tool_failed', options: { retryable: false } });
      expect(await call()).toMatchObject(DONE);
      expect([served.effects(), begun()]).toEqual([2, 2]);
    });

    it.each([
      [-32_602, 'Invalid session id'],
      [-32_602, 'Session s1 not found'],
      [-32_603, 'The session was saved; the file is not found'],
      [-32_603, 'Obsession not found'],
    ])('keeps the session when a tool refuses a session among its arguments: %d %s', async (code, message) => {
      const error = { code, message };
      const { served, forget, begun } = await sessions((asked, ...rest) =>
        json(200, { jsonrpc: '2.0', id: asked?.id, error })(asked, ...rest),
      );
      expect(await call()).toMatchObject(DONE);
      forget();
      for (let tries = 0; tries < 2; tries += 1) await expect(call()).rejects.toMatchObject({ code: 'tool_failed' });
      expect([served.effects(), begun()]).toEqual([1, 1]);
    });

    it('reopens a session after a failed list, also for unknown wording', async () => {
      const { forget, begun } = await sessions(json(500, { error: 'who are you' }));
      expect(await call()).toMatchObject(DONE);
      forget();
      await expect(shared?.list(30_000)).rejects.toThrow('who are you');
      expect(await shared?.list(30_000)).toMatchObject({ tools: [{ rawName: 't' }] });
      expect(begun()).toBe(2);
    });

    it('reports a possibly changed list when a session is reopened', async () => {
      const { forget } = await sessions(json(404, NOT_FOUND));
      expect(await call()).toMatchObject(DONE);
      forget();
      await expect(call()).rejects.toMatchObject({ code: 'unavailable' });
      await eventually(() => changes > 0, 'the change');
    });

    it('waits before it reopens a session that the server forgets at once', async () => {
      const { forget, begun } = await sessions(
        (message, ...rest) => message?.method !== 'notifications/initialized' && json(404, NOT_FOUND)(message, ...rest),
      );
      expect(await call()).toMatchObject(DONE);
      forget();
      await expect(call()).rejects.toThrow(/session/i);
      expect(begun()).toBe(1);
    });
  });

  describe('with an answer to a call', () => {
    type Write = (answer: string, response: Parameters<Answering>[2]) => void;
    const answer = async (write: Write) => {
      await serve((message, _request, response) => {
        if (message?.method !== 'tools/call') return false;
        write(usualAnswer(message), response);
        return true;
      });
      return call();
    };

    it.each([
      ['without content type', (text, response) => void response.end(text)],
      ['of the type text', (text, response) => void response.setHeader('content-type', 'text/plain; charset=utf-8').end(text)],
      [
        'of the type JSON in capitals',
        (text, response) => void response.setHeader('content-type', 'Application/JSON; Charset=UTF-8').end(text),
      ],
      ['after a byte order mark', (text, response) => void response.setHeader('content-type', 'application/json').end(`\uFEFF${text}`)],
      ['in 202', (text, response) => void response.writeHead(202, { 'content-type': 'application/json' }).end(text)],
      ['in 201', (text, response) => void response.writeHead(201, { 'content-type': 'application/json' }).end(text)],
      [
        'in a batch with a notification',
        (text, response) => void response.setHeader('content-type', 'application/json').end(`[{"method":"notifications/odd"},${text}]`),
      ],
      [
        'with the id as a text',
        (text, response) => void response.setHeader('content-type', 'application/json').end(text.replace(/"id":(\d+)/, '"id":"$1"')),
      ],
      ['without id', (text, response) => void response.setHeader('content-type', 'application/json').end(text.replace(/"id":\d+,/, ''))],
      ['in events in capitals', (text, response) => void response.setHeader('content-type', 'Text/Event-Stream').end(`data: ${text}\n\n`)],
      [
        'in events with CRLF',
        (text, response) => void response.writeHead(200, NO_EVENT).end(`: hello\r\nevent: message\r\ndata: ${text}\r\n\r\n`),
      ],
      ['in events with CR', (text, response) => void response.writeHead(200, NO_EVENT).end(`event:message\rdata:${text}\r\r`)],
      ['in an event without end', (text, response) => void response.writeHead(200, NO_EVENT).end(`:\n\ndata: ${text}`)],
      [
        'in an event with a name of its own',
        (text, response) => void response.writeHead(200, NO_EVENT).end(`event: response\ndata: ${text}\n\n`),
      ],
      ['in events after a byte order mark', (text, response) => void response.writeHead(200, NO_EVENT).end(`\uFEFFdata: ${text}\n\n`)],
      ['in one event with a batch', (text, response) => void response.writeHead(200, NO_EVENT).end(`data: [${text}]\n\n`)],
      ['in events without content type', (text, response) => void response.end(`event: message\ndata: ${text}\n\n`)],
      [
        'compressed with gzip',
        (text, response) =>
          void response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(gzipSync(text)),
      ],
      [
        'in events compressed with gzip',
        (text, response) => void response.writeHead(200, { ...NO_EVENT, 'content-encoding': 'gzip' }).end(gzipSync(`data: ${text}\n\n`)),
      ],
      [
        'in events with a charset',
        (text, response) => void response.writeHead(200, { 'content-type': 'text/event-stream;charset=UTF-8' }).end(`data: ${text}\n\n`),
      ],
      [
        'in one event of several lines',
        (text, response) => void response.writeHead(200, NO_EVENT).end(`data: ${text.replaceAll(',', ',\ndata: ')}\n\n`),
      ],
      [
        'in events after the answer to another request',
        (text, response) =>
          void response.writeHead(200, NO_EVENT).end(`data: ${text.replace(/"id":\d+/, '"id":999')}\n\ndata: ${text}\n\n`),
      ],
      ['twice', (text, response) => void response.writeHead(200, NO_EVENT).end(`data: ${text}\n\ndata: ${text}\n\n`)],
      ['after requests of the server', (text, response) => void response.writeHead(200, NO_EVENT).end(`${QUESTIONS}data: ${text}\n\n`)],
      ['after odd notifications', (text, response) => void response.writeHead(200, NO_EVENT).end(`${NOTICES}data: ${text}\n\n`)],
      [
        'with fields of its own',
        (text, response) => void response.setHeader('content-type', 'application/json').end(text.replace('{', '{"odd":[1],')),
      ],
      [
        'in events of the type JSON',
        (text, response) => void response.setHeader('content-type', 'application/json').end(`data: ${text}\n\n`),
      ],
      [
        'in an event of JSON that is not strict',
        (text, response) => void response.writeHead(200, NO_EVENT).end(`data: ${text.replace('{', '{"odd":[NaN,"\t\\x1b",],')}\n\n`),
      ],
    ] satisfies [string, Write][])('reads an answer in an event stream %s', async (_what, write) => {
      expect(await answer(write)).toMatchObject(DONE);
    });

    it.each(['{}', '{"code":0,"message":""}', '{"code":null,"message":" ","data":null}', '""', '[]', '0', 'false'])(
      'reads the result beside an error of %s, and reports it in the problems of the source',
      async (error) => {
        await serve((message, _request, response) => {
          if (message?.method === 'server/discover' || message?.id === undefined) return false;
          response.setHeader('content-type', 'application/json').end(usualAnswer(message).replace('{', `{"error":${error},`));
          return true;
        });
        expect(await call()).toMatchObject(DONE);
        const problems = error === 'false' ? undefined : ['it writes an empty error beside its results'];
        expect(await list()).toEqual({ tools: [expect.anything()], problems });
      },
    );

    it.each(['{}', '{"code":0,"message":""}'])('fails a call for good with an error of %s and no result', async (error) => {
      const write: Write = (text, response) =>
        void response.setHeader('content-type', 'application/json').end(text.replace(/"result".*/, `"result":null,"error":${error}}`));
      await expect(answer(write)).rejects.toMatchObject({ code: 'tool_failed', options: { retryable: false } });
    });

    it('fails a call without a retry if its answer is invalid JSON in a continuing event stream', async () => {
      const write: Write = (text, response) =>
        void response.writeHead(200, NO_EVENT).write(`data: ${text.replace(/"text":.*/, '"text":None}]}}')}\n\n`);
      await expect(answer(write)).rejects.toMatchObject({ code: 'tool_failed', options: { retryable: false } });
    });

    it.each([204, 400, 403, 409, 413, 422, 500, 501, 504])('fails a call for good that is answered with the status %d', async (status) => {
      await expect(answer((_text, response) => void response.writeHead(status).end())).rejects.toMatchObject({
        code: 'tool_failed',
        options: { retryable: false },
      });
    });

    it.each([401, 429, 503])('allows a retry of a call that was not begun: %d', async (status) => {
      let isRefused = true;
      const { effects } = await serve((message, _request, response) => {
        if (message?.method !== 'tools/call' || !isRefused) return false;
        isRefused = false;
        response.writeHead(status).end();
        return true;
      });
      await expect(call()).rejects.toMatchObject({ code: 'unavailable', options: { retryable: true } });
      expect(await call()).toMatchObject(DONE);
      expect(effects()).toBe(1);
    });

    it('follows a redirect within the host', async () => {
      const { effects } = await serve((_message, request, response) => {
        if (request.url === '/mcp/') return false;
        response.writeHead(307, { location: '/mcp/' }).end();
        return true;
      });
      expect(await call()).toMatchObject(DONE);
      expect(effects()).toBe(1);
    });

    /** Serves `tools/call` as events, and each GET as `resumed` says. */
    const resumable = async (first: string, resumed: (count: number, from: unknown, answer: string) => string | number) => {
      let asked: HttpMcpMessage | undefined;
      let count = 0;
      await serve((message, request, response) => {
        if (message?.method === 'tools/call') asked = message;
        if (message?.method === 'tools/call') response.writeHead(200, NO_EVENT).end(first);
        else if (message === undefined && asked !== undefined && request.headers['last-event-id'] !== undefined) {
          const next = resumed((count += 1), request.headers['last-event-id'], usualAnswer(asked));
          if (typeof next === 'number') response.writeHead(next).end();
          else response.writeHead(200, NO_EVENT).end(next);
        } else return false;
        return true;
      });
      return call();
    };
    const PROGRESS =
      'retry: 1\nid: e1\ndata: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}\n\n';

    it('resumes the stream of an answer from the last event, also after a stream without events', async () => {
      expect(await resumable(PROGRESS, (count, from, text) => (count === 1 || from !== 'e1' ? '' : `data: ${text}\n\n`))).toMatchObject(
        DONE,
      );
    });

    it.each([404, 405, 500])('fails a call for good when its stream cannot be resumed: %d', async (status) => {
      await expect(resumable(PROGRESS, () => status)).rejects.toMatchObject({ code: 'tool_failed', options: { retryable: false } });
    });
  });
});
