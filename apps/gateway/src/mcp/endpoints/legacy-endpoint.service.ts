import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import {
  isInitializeRequest,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResponse,
  ProtocolErrorCode,
  WebStandardStreamableHTTPServerTransport,
  type JSONRPCRequest,
  type JSONRPCResponse,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { CALL_RESULT_TOOL, CancelBody, ProblemError, type Principal } from '#contracts';
import { everyMs } from '#timing';
import { ApiKeyStore } from '../../auth/api-key-store.service.js';
import { CancelCallService } from '../../calls/cancel-call.service.js';
import { ShutdownState } from '../../platform/shutdown-state.service.js';
import { APPROVAL, formAnswer } from '../calls/approval-form.js';
import { CallApprovals } from '../calls/call-approvals.service.js';
import { CallInputs } from '../calls/call-inputs.service.js';
import { inputAnswer, samplingAttempt } from '../calls/input-form.js';
import { ListChanges } from '../calls/list-changes.service.js';
import type { CallSession } from '../calls/tool-call.js';
import { featuresOfSession } from '../wire/client-features.js';
import { EventIds, readSoFar, type ReadSoFar } from '../wire/event-ids.js';
import { jsonRpcError } from '../wire/json-rpc-error.js';
import { MAX_ID_CHARS } from '../wire/message-facts.js';
import { McpServers } from './mcp-servers.service.js';
import type { ToolServer } from '../wire/tool-server.js';
import { McpSessions, type McpSession } from './mcp-sessions.service.js';

const CANCELLED = CancelBody.parse({ reason: 'Cancelled by the MCP client' });
/** Error code of the SDK for unknown or ended sessions. */
const SESSION_NOT_FOUND = -32_001;
const BAD_REQUEST = -32_000;
const ACCEPTED = () => new Response(null, { status: 202 });

/** Reconnection delay for clients. */
const RETRY_MS = 1_000;
/** Polling interval for requests whose form the user dismissed at another gateway. */
const DISMISSED_MS = 500;
/** Polling interval for streams whose session ended at another gateway. */
const OVER_MS = 2_000;

/** Id of a request to the client. Any gateway can read the call and the kind of request from it. */
const QuestionId = /^(?<question>approval|input\.\d+|sampling\.\d+):(?<callId>.+)$/;

const Cancelled = z.object({ requestId: z.union([z.string().max(MAX_ID_CHARS), z.number()]) });

/**
 * Clients of a revision before 2026-07-28, which open a session with `initialize`. Each request gets a server of its own, as
 * with the newer revision; `McpSessions` stores state that lasts between requests (decision 0002).
 */
@Injectable()
export class LegacyEndpoint {
  constructor(
    private readonly sessions: McpSessions,
    private readonly servers: McpServers,
    private readonly cancelCall: CancelCallService,
    private readonly approvals: CallApprovals,
    private readonly inputs: CallInputs,
    private readonly changes: ListChanges,
    private readonly apiKeys: ApiKeyStore,
    private readonly shutdown: ShutdownState,
  ) {}

  async handle(principal: Principal, request: Request, body: unknown): Promise<Response> {
    if (Array.isArray(body))
      return jsonRpcError(
        400,
        ProtocolErrorCode.InvalidRequest,
        'Expected one message: batches left the protocol with revision 2025-06-18',
      );
    if (isInitializeRequest(body)) return this.initialize(principal, request, body);
    const sessionId = request.headers.get('mcp-session-id');
    if (sessionId === null)
      return jsonRpcError(
        400,
        BAD_REQUEST,
        'Expected the header Mcp-Session-Id of the answer to `initialize`, or the `_meta` of revision 2026-07-28',
      );
    const session = await this.sessions.find(sessionId, principal);
    if (session === undefined) return jsonRpcError(404, SESSION_NOT_FOUND, 'Session not found: send `initialize` again');
    const lastEventId = request.headers.get('last-event-id');
    if (request.method === 'GET' && lastEventId !== null) return this.resume(principal, session, request, lastEventId);
    if (request.method === 'GET') return this.notifications(principal, session, request);
    if (request.method === 'DELETE') return this.end(session);
    if (isJSONRPCResponse(body)) return this.answer(principal, session, body);
    if (isJSONRPCNotification(body)) return this.notice(principal, session, body);
    return this.serve(principal, session, request, body);
  }

  private async initialize(
    principal: Principal,
    request: Request,
    body: { readonly params: { readonly capabilities: unknown } },
  ): Promise<Response> {
    const sessionId = randomUUID();
    await this.sessions.admit(sessionId, principal);
    let hasBegun = false;
    const server = this.servers.create(principal, { features: featuresOfSession(undefined), callSession: () => NO_CALLS });
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => sessionId,
      onsessioninitialized: () => {
        hasBegun = true;
        return this.sessions.create(sessionId, principal, body.params.capabilities);
      },
      enableJsonResponse: true,
    });
    await server.connect(transport);
    const response = await transport.handleRequest(request, { parsedBody: body });
    await server.close();
    if (!hasBegun) await this.sessions.drop(sessionId, principal);
    return response;
  }

  /** `read`: position of a client that reconnects. */
  private async serve(principal: Principal, session: McpSession, request: Request, body: unknown, read?: ReadSoFar): Promise<Response> {
    const callSession = (server: ToolServer, ctx: ServerContext) => callSessionOf(session, server, ctx, read?.progress);
    const server = this.servers.create(principal, { features: session.features, callSession });
    const isCall = isJSONRPCRequest(body) && body.method === 'tools/call';
    const events = isCall ? { eventStore: new EventIds(read ?? beginningOf(body)), retryInterval: RETRY_MS } : {};
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: !isCall, ...events });
    await server.connect(transport);
    const response = await transport.handleRequest(request, { parsedBody: body });
    // Closes the server: a disconnected client needs no progress; its call continues.
    const close = () => void server.close();
    if (!isCall || request.signal.aborted) close();
    else request.signal.addEventListener('abort', close, { once: true });
    return response;
  }

  /** Continues the response to a request that became a call and has no answer, by waiting for the call's result. */
  private async resume(principal: Principal, session: McpSession, request: Request, lastEventId: string): Promise<Response> {
    const read = readSoFar(lastEventId);
    const callId = read && (await session.callOf(read.requestId));
    if (read === undefined || callId === undefined)
      return jsonRpcError(
        400,
        BAD_REQUEST,
        'No request of this session without an answer has this event: ask for its call with call_result',
      );
    const { requestId, progressToken } = read;
    const params = {
      name: CALL_RESULT_TOOL,
      arguments: { callId },
      _meta: progressToken === undefined ? {} : { progressToken },
    };
    const headers = new Headers(request.headers);
    headers.set('accept', 'application/json, text/event-stream');
    headers.set('content-type', 'application/json');
    const asked = new Request(request.url, { method: 'POST', headers, signal: request.signal });
    return this.serve(principal, session, asked, { jsonrpc: '2.0', id: requestId, method: 'tools/call', params }, read);
  }

  /**
   * Stream of notifications about no single request: changes of the tool list. Ends with the key and the session, and when this
   * gateway drains.
   */
  private async notifications(principal: Principal, session: McpSession, request: Request): Promise<Response> {
    const server = this.servers.create(principal, { features: session.features, callSession: () => NO_CALLS });
    const transport = new WebStandardStreamableHTTPServerTransport();
    await server.connect(transport);
    const response = await transport.handleRequest(request);
    if (!response.ok) return response;
    const stops = [
      this.changes.watch(principal, () => void server.sendToolListChanged().catch(() => {})),
      this.apiKeys.watch(principal, 'read', () => void server.close()),
      whenTrue(
        () => session.isOver(),
        OVER_MS,
        () => void server.close(),
      ),
    ];
    const close = () => void server.close();
    for (const over of [this.shutdown.signal, request.signal]) over.addEventListener('abort', close, { once: true });
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK's server is no event target
    server.onclose = () => {
      for (const end of stops) end();
      this.shutdown.signal.removeEventListener('abort', close);
    };
    const isLost = this.apiKeys.rejection(principal, 'read') !== undefined;
    if (isLost || this.shutdown.draining || request.signal.aborted) close();
    return response;
  }

  private async end(session: McpSession): Promise<Response> {
    await session.end();
    return new Response(null, { status: 200 });
  }

  private async notice(
    principal: Principal,
    session: McpSession,
    { method, params }: { readonly method: string; readonly params?: unknown },
  ): Promise<Response> {
    const { data } = Cancelled.safeParse(params);
    if (method !== 'notifications/cancelled' || data === undefined || !principal.scopes.includes('cancel')) return ACCEPTED();
    const callId = await session.cancel(data.requestId);
    if (callId !== undefined) await this.cancelCall.cancel(principal, callId, CANCELLED).catch(unlessRefused);
    return ACCEPTED();
  }

  /** Answer of the client's user to a request of this session. All other answers are ignored. */
  private async answer(principal: Principal, session: McpSession, response: JSONRPCResponse): Promise<Response> {
    const { question, callId } = QuestionId.exec(String(response.id))?.groups ?? {};
    if (question === undefined || callId === undefined || !(await session.isAsked(nameOf(callId, question)))) return ACCEPTED();
    try {
      if ('result' in response) await this.apply(principal, callId, question, response.result).catch(unlessRefused);
      else await this.refused(principal, callId, question).catch(unlessRefused);
    } finally {
      // Closes after the decision: a closed request without a decision means that the user has dismissed it.
      await session.closeQuestion(nameOf(callId, question));
    }
    return ACCEPTED();
  }

  /** Handles an error response, by which a client declines sampling. */
  private async refused(principal: Principal, callId: string, question: string): Promise<void> {
    const attempt = samplingAttempt(question);
    if (attempt !== undefined) await this.inputs.answer(principal, callId, { kind: 'declined', attempt });
  }

  private async apply(principal: Principal, callId: string, question: string, result: unknown): Promise<void> {
    if (question === APPROVAL) {
      const decision = formAnswer(result);
      if (decision !== undefined) await this.approvals.answer(principal, callId, decision);
      return;
    }
    const input = inputAnswer(question, result);
    if (input !== undefined) await this.inputs.answer(principal, callId, input);
  }
}

/** Session of servers without calls. */
const NO_CALLS: CallSession = {
  began: () => Promise.resolve(true),
  ask: () => Promise.resolve(),
  whenClosed: () => () => {},
  isCancelled: () => Promise.resolve(false),
};

function callSessionOf(
  session: McpSession,
  server: ToolServer,
  { mcpReq: { id, signal } }: ServerContext,
  progressAfter: number | undefined,
): CallSession {
  const asked = new Set<string>();
  return {
    progressAfter,
    began: (callId) => session.began(id, callId),
    ask: async (callId, question, { method, params }) => {
      const name = nameOf(callId, question);
      asked.add(name);
      await session.asked(name);
      const request = { jsonrpc: '2.0', id: `${question}:${callId}`, method, params: { ...params } } as const;
      await server.transport?.send(request, { relatedRequestId: id });
    },
    whenClosed: (callId, question, then) => whenTrue(async () => !(await session.isAsked(nameOf(callId, question))), DISMISSED_MS, then),
    // A disconnected client may still cancel the call.
    isCancelled: () => (signal.aborted ? session.isCancelled(id) : session.finished(id, [...asked])),
  };
}

function beginningOf({ id, params }: JSONRPCRequest): ReadSoFar {
  return { requestId: id, progressToken: params?._meta?.progressToken, n: 0 };
}

/** Name of a request in the session. The name of an approval is the id of the call. */
function nameOf(callId: string, question: string): string {
  return question === APPROVAL ? callId : `${callId}:${question}`;
}

/** Polls until the condition is true or the returned function is called. Errors of Redis count as false. */
function whenTrue(isTrue: () => Promise<boolean>, ms: number, then: () => void): () => void {
  const ticker = everyMs(ms, async () => {
    if (await isTrue()) then();
  });
  return () => ticker.unsubscribe();
}

/** Ignores rejections: the client's request has an answer of its own. */
function unlessRefused(error: unknown): void {
  if (!(error instanceof ProblemError)) throw error;
}
