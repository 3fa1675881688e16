import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { serveWeb, type WebServer } from './serve-web.js';

/** The tools of one address of the server. */
class Side {
  readonly log: ('begin' | 'end')[] = [];
  private open = 0;
  private needed = Infinity;
  private readonly waiting = new Set<() => void>();

  /** Calls are answered once so many are open. */
  openAt(calls: number): void {
    this.needed = calls;
    if (this.open >= calls) for (const go of this.waiting) go();
  }

  async run(): Promise<void> {
    this.log.push('begin');
    this.open += 1;
    await new Promise<void>((go) => {
      this.waiting.add(go);
      this.openAt(this.needed);
    });
    this.waiting.clear();
    this.open -= 1;
    this.log.push('end');
  }
}

export interface FilesServer extends WebServer {
  readonly left: Side;
  readonly right: Side;
  /** Calls of `linger` that the client gave up. */
  readonly cancelled: () => number;
}

/** An MCP server with two addresses, `/left` and `/right`. */
export async function startFilesServer(): Promise<FilesServer> {
  const sides = { left: new Side(), right: new Side() };
  let cancelled = 0;
  const handlerOf = (name: keyof typeof sides) =>
    createMcpHandler(() => {
      const server = new McpServer({ name: 'files', version: '1.0.0' });
      const define = (tool: string, run: (signal: AbortSignal) => Promise<void>) =>
        server.registerTool(tool, { description: 'Of files.', inputSchema: z.object({}) }, async (_args, { mcpReq }) => {
          await run(mcpReq.signal);
          return { content: [{ type: 'text', text: `${tool} of ${name}` }] };
        });
      define('read_part', () => sides[name].run());
      for (const tool of name === 'right' ? ['run_x', '9.part'] : ['run_x']) define(tool, async () => {});
      define('linger', async (signal) => {
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        cancelled += 1;
      });
      return server;
    });
  const handlers = { left: handlerOf('left'), right: handlerOf('right') };
  const server = await serveWeb((request) => handlers[request.url.endsWith('/left') ? 'left' : 'right'].fetch(request));
  return { ...server, ...sides, cancelled: () => cancelled };
}
