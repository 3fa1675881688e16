import { Server, type CallToolResult, type JSONRPCRequest, type Result, type ServerContext } from '@modelcontextprotocol/server';

import { protocolErrorOf } from './json-rpc-error.js';

type Handler = (request: JSONRPCRequest, ctx: ServerContext) => Promise<Result>;

const REPLACED: CallToolResult = { content: [] };

/**
 * Server of the SDK that may also answer `tools/call` with a task. The SDK would treat a task as a faulty result (decision
 * 0001): it validates an empty result, and the client gets the task. Errors of handlers are answered without details, which the
 * SDK would disclose.
 */
export class ToolServer extends Server {
  /** Called with each internal error of a handler. */
  unforeseen: ((error: unknown) => void) | undefined;

  protected override _wrapHandler(method: string, handler: Handler): Handler {
    const masked: Handler = async (request, ctx) => {
      try {
        return await handler(request, ctx);
      } catch (error) {
        throw protocolErrorOf(error, (unforeseen) => this.unforeseen?.(unforeseen));
      }
    };
    if (method !== 'tools/call') return super._wrapHandler(method, masked);
    return async (request, ctx) => {
      let task: Result | undefined;
      const checked = super._wrapHandler(method, async (...call) => {
        const result = await masked(...call);
        if (result['resultType'] !== 'task') return result;
        task = result;
        return REPLACED;
      });
      const result = await checked(request, ctx);
      return task ?? result;
    };
  }
}
