import { Inject, Injectable } from '@nestjs/common';
import type { CallToolResult, McpServer, ServerContext } from '@modelcontextprotocol/server';
import type { Logger } from 'pino';
import { z } from 'zod';
import { MCP_OUTPUT_URI, type Principal } from '#contracts';
import { VERSION } from '#platform';
import { ToolRegistry } from '#tool-sdk';
import { LOGGER } from '../../platform/tokens.js';
import { CallTasks } from '../calls/call-tasks.service.js';
import { CallToolService } from '../calls/call-tool.service.js';
import { OutputResources } from '../calls/output-resources.service.js';
import type { CallSession } from '../calls/tool-call.js';
import { ToolList } from '../calls/tool-list.service.js';
import { featuresOfRequest, TASKS_EXTENSION, type ClientFeatures } from '../wire/client-features.js';
import { hasMirroredParameters, withMirroredParameters } from '../wire/mirrored-parameters.js';
import { ToolServer } from '../wire/tool-server.js';

/** Longest time for which a client may cache a list. Short, since the session's grants also change the tools of a key. */
const LIST_HINT = { ttlMs: 5_000, cacheScope: 'private' } as const;

const INSTRUCTIONS =
  'Tools of Toolyard. Each tools/call is a durable call that policy has judged. A result that names a callId of a call that goes on is continued with the tool call_result.';

const TaskParams = z.looseObject({ taskId: z.string() });
const InputResponses = z.record(z.string(), z.unknown());

/** Session of a revision before 2026-07-28, reduced to the needs of a server. */
export interface ServerSession {
  readonly features: ClientFeatures;
  callSession(server: ToolServer, ctx: ServerContext): CallSession;
}

/** Creates the server that answers one request of a principal. Servers hold no other state. */
@Injectable()
export class McpServers {
  constructor(
    private readonly toolList: ToolList,
    private readonly callTool: CallToolService,
    private readonly tasks: CallTasks,
    private readonly outputs: OutputResources,
    private readonly registry: ToolRegistry,
    @Inject(LOGGER) private readonly log: Logger,
  ) {}

  create(principal: Principal, session?: ServerSession): ToolServer {
    const server = new ToolServer(
      { name: 'toolyard', title: 'Toolyard', version: VERSION },
      {
        capabilities: {
          tools: { listChanged: true },
          resources: {},
          ...(session === undefined ? { extensions: { [TASKS_EXTENSION]: {} } } : {}),
        },
        instructions: INSTRUCTIONS,
        cacheHints: { 'tools/list': LIST_HINT },
      },
    );
    server.unforeseen = (error) => this.log.error({ err: error }, 'an MCP request failed');
    this.serveTools(server, principal, session);
    this.serveResources(server, principal);
    if (session === undefined) this.serveTasks(server, principal);
    return server;
  }

  /** Server for a revision since 2026-07-28. `tool`: tool that the request calls. */
  createModern(principal: Principal, tool: string | undefined): ToolServer | McpServer {
    const server = this.create(principal);
    const descriptor = tool === undefined ? undefined : this.registry.for(principal.tenantId).resolve(tool);
    return descriptor !== undefined && hasMirroredParameters(descriptor) ? withMirroredParameters(server, descriptor) : server;
  }

  private serveTools(server: ToolServer, principal: Principal, session: ServerSession | undefined): void {
    server.setRequestHandler('tools/list', ({ params }) => this.toolList.page(principal, params?.cursor, params?._meta));
    server.setRequestHandler('tools/call', async ({ params }, ctx) => {
      const inSession = session?.callSession(server, ctx);
      const answer = await this.callTool.call({
        principal,
        features: session?.features ?? featuresOfRequest(ctx),
        name: params.name,
        args: params.arguments ?? {},
        meta: ctx.mcpReq._meta ?? {},
        ctx,
        session: inSession,
      });
      // Closes the server, which then sends no answer.
      if ((await inSession?.isCancelled()) === true) await server.close();
      if ('question' in answer) return answer.question;
      if ('result' in answer)
        return server.projectCallToolResult(answer.result, this.registry.for(principal.tenantId).resolve(params.name)?.output);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the SDK knows no tasks; `ToolServer` passes them on
      return answer.task as CallToolResult;
    });
  }

  private serveResources(server: ToolServer, principal: Principal): void {
    server.setRequestHandler('resources/list', () => ({ resources: [] }));
    server.setRequestHandler('resources/templates/list', () => ({
      resourceTemplates: [{ name: 'output', title: 'Output of a call', uriTemplate: MCP_OUTPUT_URI, mimeType: 'text/plain' }],
    }));
    server.setRequestHandler('resources/read', ({ params }) => this.outputs.read(principal, params.uri));
  }

  private serveTasks(server: ToolServer, principal: Principal): void {
    const callerOf = (ctx: ServerContext) => ({ principal, features: featuresOfRequest(ctx) });
    server.setRequestHandler('tasks/get', { params: TaskParams }, ({ taskId }, ctx) => this.tasks.get(callerOf(ctx), taskId));
    server.setRequestHandler('tasks/cancel', { params: TaskParams }, ({ taskId }, ctx) => this.tasks.cancel(callerOf(ctx), taskId));
    // The SDK moves `inputResponses` of any request out of its parameters.
    server.setRequestHandler('tasks/update', { params: TaskParams }, ({ taskId }, ctx) =>
      this.tasks.update(callerOf(ctx), taskId, InputResponses.safeParse(ctx.mcpReq.inputResponses).data ?? {}),
    );
  }
}
