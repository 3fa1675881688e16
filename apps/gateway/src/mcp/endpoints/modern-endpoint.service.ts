import { Inject, Injectable } from '@nestjs/common';
import { createMcpHandler, type ServerEventBus } from '@modelcontextprotocol/server';
import type { Logger } from 'pino';
import type { Principal } from '#contracts';
import { ApiKeyStore } from '../../auth/api-key-store.service.js';
import { ShutdownState } from '../../platform/shutdown-state.service.js';
import { LOGGER } from '../../platform/tokens.js';
import { ListChanges } from '../calls/list-changes.service.js';
import { isListen, toolOf } from '../wire/message-facts.js';
import { withTaskNotifications } from '../wire/task-stream.js';
import { McpServers } from './mcp-servers.service.js';
import { TaskListens } from './task-listens.service.js';

const NO_CHANGES: ServerEventBus = { publish: () => {}, subscribe: () => () => {} };

/** Revision 2026-07-28: each request contains all its context, so any gateway serves any request. */
@Injectable()
export class ModernEndpoint {
  constructor(
    private readonly servers: McpServers,
    private readonly changes: ListChanges,
    private readonly taskListens: TaskListens,
    private readonly apiKeys: ApiKeyStore,
    private readonly shutdown: ShutdownState,
    @Inject(LOGGER) private readonly log: Logger,
  ) {}

  /** Creates a handler for each request: its event bus depends on the principal. */
  async handle(principal: Principal, request: Request, body: unknown): Promise<Response> {
    const listen = isListen(body) ? await this.taskListens.of(principal, body) : undefined;
    if (listen instanceof Response) return listen;
    const handler = createMcpHandler(() => this.servers.createModern(principal, toolOf(body)), {
      legacy: 'reject',
      bus: listen?.hasTools === false ? NO_CHANGES : this.changes.busOf(principal),
      onerror: (error) => this.log.debug({ err: error }, 'an MCP request was refused'),
    });
    if (!isListen(body)) return handler.fetch(request, { parsedBody: body });
    const close = () => void handler.close();
    const unwatch = this.apiKeys.watch(principal, 'read', close);
    this.shutdown.signal.addEventListener('abort', close, { once: true });
    request.signal.addEventListener('abort', () => {
      unwatch();
      this.shutdown.signal.removeEventListener('abort', close);
    });
    const sdkResponse = await handler.fetch(request, { parsedBody: listen?.body ?? body });
    const response =
      listen !== undefined && isStream(sdkResponse) ? withTaskNotifications(sdkResponse, listen.notificationsTo(close)) : sdkResponse;
    // Closes a stream if the key was revoked or the drain began before the stream existed.
    if (this.shutdown.draining || this.apiKeys.rejection(principal, 'read') !== undefined) close();
    return response;
  }
}

/** True for a stream, false for an error. */
function isStream({ headers }: Response): boolean {
  return headers.get('content-type')?.startsWith('text/event-stream') === true;
}
