// An MCP server for tests, over stdio. `MCP_TEST_MODE` makes it hostile.
import { McpServer } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

export function createServer() {
  const server = new McpServer({ name: 'fixture', version: '1.0.0' });
  server.registerTool(
    'add',
    {
      title: 'Add',
      description: 'Adds two numbers.',
      inputSchema: z.object({ a: z.number(), b: z.number() }),
      outputSchema: z.object({ sum: z.number() }),
      annotations: { readOnlyHint: true },
    },
    ({ a, b }) => ({ content: [{ type: 'text', text: String(a + b) }], structuredContent: { sum: a + b } }),
  );
  server.registerTool('fail', { description: 'Fails.', inputSchema: z.object({}) }, () => ({
    content: [{ type: 'text', text: 'it failed' }],
    isError: true,
  }));
  server.registerTool('kinds', { description: 'All kinds of content.', inputSchema: z.object({}) }, () => ({
    content: [
      { type: 'text', text: 'text ✓' },
      { type: 'image', data: 'aGk=', mimeType: 'image/png' },
      { type: 'audio', data: 'aGk=', mimeType: 'audio/wav' },
      { type: 'resource_link', uri: 'file:///a', name: 'a', mimeType: 'text/plain' },
      { type: 'resource', resource: { uri: 'file:///b', text: 'b', mimeType: 'text/plain' }, annotations: { priority: 0.5 } },
    ],
  }));
  server.registerTool('environment', { description: 'Its variables.', inputSchema: z.object({}) }, () => ({
    content: [{ type: 'text', text: JSON.stringify(process.env) }],
  }));
  server.registerTool('process', { description: 'Its id.', inputSchema: z.object({}) }, () => ({
    content: [{ type: 'text', text: String(process.pid) }],
  }));
  server.registerTool('grow', { description: 'Adds a tool.', inputSchema: z.object({}) }, () => {
    server.registerTool('grown', { description: 'Came later.', inputSchema: z.object({}) }, () => ({ content: [] }));
    return { content: [{ type: 'text', text: 'grown' }] };
  });
  server.registerTool('exit', { description: 'Ends the server.', inputSchema: z.object({}) }, () => process.exit(3));
  server.registerTool('huge', { description: 'A huge answer.', inputSchema: z.object({}) }, () => ({
    content: [{ type: 'text', text: 'x'.repeat(9_000_000) }],
  }));
  server.registerTool('wait', { description: 'Waits for its cancellation.', inputSchema: z.object({}) }, async (_args, ctx) => {
    const signal = ctx.mcpReq?.signal ?? ctx.signal;
    await ctx.mcpReq?.notify?.({
      method: 'notifications/progress',
      params: { progressToken: ctx.mcpReq._meta?.progressToken, progress: 1, total: 2, message: 'half' },
    });
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    console.error('cancelled');
    return { content: [] };
  });
  return server;
}

if (process.argv[2] === 'stdio') await createServer().connect(new StdioServerTransport());
