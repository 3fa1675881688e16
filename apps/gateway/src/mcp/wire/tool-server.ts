import { Server, type CallToolResult, type JSONRPCRequest, type Result, type ServerContext } from '@modelcontextprotocol/server';

import { protocolErrorOf } from './json-rpc-error.js';

type Handler = (request: JSONRPCRequest, ctx: ServerContext) => Promise<Result>;

const REPLACED: CallToolResult = { content: [] };

/**
 * The SDK's server, which may also answer `tools/call` with a task. The SDK knows no tasks and takes such an answer for a
 * faulty result (decision 0001): it gets an empty result to check, and the client the task. An error of a handler is answered
 * without details, which the SDK would send as they are.
 */
export class ToolServer extends Server {
  /** Gets each error of a handler that has no answer of its own. */
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
