import { Server, type CallToolResult, type JSONRPCRequest, type Result, type ServerContext } from '@modelcontextprotocol/server';

type Handler = (request: JSONRPCRequest, ctx: ServerContext) => Promise<Result>;

const REPLACED: CallToolResult = { content: [] };

/**
 * The SDK's server, which may also answer `tools/call` with a task. The SDK knows no tasks and takes such an answer for a
 * faulty result (decision 0001): it gets an empty result to check, and the client the task.
 */
export class ToolServer extends Server {
  protected override _wrapHandler(method: string, handler: Handler): Handler {
    if (method !== 'tools/call') return super._wrapHandler(method, handler);
    return async (request, ctx) => {
      let task: Result | undefined;
      const checked = super._wrapHandler(method, async (...call) => {
        const result = await handler(...call);
        if (result['resultType'] !== 'task') return result;
        task = result;
        return REPLACED;
      });
      const result = await checked(request, ctx);
      return task ?? result;
    };
  }
}
