import { randomUUID } from 'node:crypto';
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import { serveWeb } from './serve-web.js';
import { newStore, taskServer } from './task-mcp-server.fixture.mjs';

/** An MCP server over HTTP whose tools `held`, `ask` and `fails` are tasks. */
export interface TaskServer {
  readonly url: string;
  /** How many tasks there are. */
  begun(): number;
  /** Resolves when a task was cancelled. */
  readonly cancelled: Promise<void>;
  /** Lets `held` end. */
  release(): void;
  /** Answers nothing but 503. */
  refuse(refuses: boolean): void;
  close(): void;
}

type Handle = (request: Request) => Promise<Response>;

function resolvable() {
  let resolve = () => {};
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}

export interface OlderOptions {
  /** Tasks belong to the session that began them. */
  readonly sessions?: boolean;
  /** Requests of this method get no answer until it resolves. */
  readonly holds?: { readonly method: string; readonly until: Promise<void> };
  /** Requests of this method are answered with this error. */
  readonly fails?: { readonly method: string; readonly message: string };
}

/** Server of revision 2025-11-25, by its SDK. */
export async function olderTasks({ sessions = false, holds, fails }: OlderOptions = {}): Promise<TaskServer> {
  const store = newStore();
  const held = resolvable();
  const servers: McpServer[] = [];
  const known = new Map<string, WebStandardStreamableHTTPServerTransport>();
  const open = async () => {
    const transport: WebStandardStreamableHTTPServerTransport = new WebStandardStreamableHTTPServerTransport(
      sessions ? { sessionIdGenerator: randomUUID, onsessioninitialized: (id: string) => void known.set(id, transport) } : {},
    );
    const server = taskServer({ store, held: held.promise });
    servers.push(server);
    await server.connect(transport);
    return transport;
  };
  return served(
    async (request) => {
      const text = await request.clone().text();
      const asks = (method: string | undefined) => method !== undefined && text.includes(`"method":"${method}"`);
      if (asks(holds?.method)) await holds?.until;
      if (asks(fails?.method)) {
        const { id } = JSON.parse(text) as { readonly id: number };
        const error = { code: -32_603, message: fails?.message };
        return { response: Response.json({ jsonrpc: '2.0', id, error }), cancels: false };
      }
      const transport = known.get(request.headers.get('mcp-session-id') ?? '') ?? (await open());
      const response = await transport.handleRequest(request);
      return { response, cancels: text.includes('"tasks/cancel"') };
    },
    held.resolve,
    () => store.getAllTasks().length,
    () => {
      store.cleanup();
      for (const server of servers) void server.close();
    },
  );
}

export interface ModernOptions {
  /** Answers `tasks/get` with this, too. */
  readonly answer?: object | (() => object);
  /** Called for each request; answers 503 where it says so. */
  readonly fails?: (method: string) => boolean;
}

/** Server of revision 2026-07-28, without a library: the SDK's server has no tasks. */
export async function modernTasks({ answer = {}, fails = () => false }: ModernOptions = {}): Promise<TaskServer> {
  const tools = new Map<string, string>();
  const answers = new Map<string, unknown>();
  const held = resolvable();
  let isReleased = false;
  const form = { mode: 'form', message: 'Which branch?', requestedSchema: { type: 'object', properties: { branch: { type: 'string' } } } };
  const complete = (taskId: string, text: string) => ({ taskId, status: 'completed', result: { content: [{ type: 'text', text }] } });
  const stateOf = (taskId: string) => {
    const tool = tools.get(taskId);
    if (tool === 'fails') return { taskId, status: 'failed', error: { code: -32_000, message: 'no sources' } };
    if (tool === 'held')
      return isReleased ? complete(taskId, 'held') : { taskId, status: 'working', statusMessage: 'reading sources', pollIntervalMs: 1 };
    const given = answers.get(taskId);
    if (given !== undefined) return complete(taskId, JSON.stringify(given));
    return { taskId, status: 'input_required', inputRequests: { one: { method: 'elicitation/create', params: form } } };
  };
  const resultOf = (method: string, params: Params): object | undefined => {
    const { taskId = '' } = params;
    switch (method) {
      case 'server/discover':
        return {
          supportedVersions: ['2026-07-28'],
          capabilities: { tools: {}, extensions: { [EXTENSION]: {} } },
          serverInfo: { name: 'x', version: '1' },
          ttlMs: 0,
          cacheScope: 'private',
        };
      case 'tools/list':
        return {
          tools: ['held', 'ask', 'fails'].map((name) => ({ name, inputSchema: { type: 'object' } })),
          ttlMs: 0,
          cacheScope: 'private',
        };
      case 'tools/call': {
        if (params._meta?.[CAPABILITIES]?.extensions?.[EXTENSION] === undefined) return undefined;
        const id = randomUUID();
        tools.set(id, params.name ?? '');
        const now = new Date().toISOString();
        return { resultType: 'task', taskId: id, status: 'working', createdAt: now, lastUpdatedAt: now, ttlMs: null, pollIntervalMs: 200 };
      }
      case 'tasks/get':
        return { ...stateOf(taskId), ...(typeof answer === 'function' ? (answer as () => object)() : answer) };
      case 'tasks/update':
        answers.set(taskId, params.inputResponses?.['one']);
        return {};
      case 'tasks/cancel':
        return {};
      default:
        return undefined;
    }
  };
  const release = () => {
    isReleased = true;
    held.resolve();
  };
  return served(
    async (request) => {
      const { id, method, params } = (await request.json()) as { id?: number; method: string; params: Params };
      if (id === undefined) return { response: new Response(null, { status: 202 }), cancels: false };
      if (fails(method)) return { response: new Response('', { status: 503 }), cancels: false };
      const result = resultOf(method, params);
      const body =
        result === undefined ? { error: { code: -32_601, message: 'unknown' } } : { result: { resultType: 'complete', ...result } };
      const response = Response.json({ jsonrpc: '2.0', id, ...body }, { status: result === undefined ? 404 : 200 });
      return { response, cancels: method === 'tasks/cancel' };
    },
    release,
    () => tools.size,
    () => {},
  );
}

const EXTENSION = 'io.modelcontextprotocol/tasks';
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
interface Params {
  readonly name?: string;
  readonly taskId?: string;
  readonly inputResponses?: Record<string, unknown>;
  readonly _meta?: Record<string, { readonly extensions?: Record<string, unknown> } | undefined>;
}

async function served(
  answer: (request: Request) => Promise<{ readonly response: Response; readonly cancels: boolean }>,
  release: () => void,
  begun: () => number,
  end: () => void,
): Promise<TaskServer> {
  const cancelled = resolvable();
  let refuses = false;
  const handle: Handle = async (request) => {
    if (refuses) return new Response('', { status: 503 });
    if (request.method !== 'POST') return new Response('', { status: 405 });
    const { response, cancels } = await answer(request);
    if (cancels) cancelled.resolve();
    return response;
  };
  const http = await serveWeb(handle);
  return {
    url: `${http.url}/mcp`,
    begun,
    cancelled: cancelled.promise,
    release,
    refuse: (it) => (refuses = it),
    close: () => {
      release();
      end();
      http.close();
    },
  };
}
