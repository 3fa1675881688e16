// An MCP server of revision 2025-11-25, by its SDK, whose tools are tasks. Over stdio when it is started as a program.
import { pathToFileURL } from 'node:url';
import { InMemoryTaskMessageQueue, InMemoryTaskStore } from '@modelcontextprotocol/sdk/experimental/tasks/stores/in-memory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { ElicitResultSchema } from '@modelcontextprotocol/sdk/types.js';

const BRANCH = {
  mode: 'form',
  message: 'Which branch?',
  requestedSchema: { type: 'object', properties: { branch: { type: 'string', enum: ['main', 'next'] } }, required: ['branch'] },
};

export const newStore = () => new InMemoryTaskStore();

/** `held`: tasks of the tool `held` end when it resolves. */
export function taskServer({ store = newStore(), held = Promise.resolve() } = {}) {
  const server = new McpServer(
    { name: 'tasks', version: '1' },
    {
      capabilities: { tools: {}, tasks: { cancel: {}, requests: { tools: { call: {} } } } },
      taskStore: store,
      taskMessageQueue: new InMemoryTaskMessageQueue(),
    },
  );
  const tool = (name, taskSupport, work) =>
    server.experimental.tasks.registerToolTask(
      name,
      { execution: { taskSupport }, annotations: { idempotentHint: true, destructiveHint: false } },
      {
        createTask: async (extra) => {
          const task = await extra.taskStore.createTask({ ttl: extra.taskRequestedTtl, pollInterval: 200 });
          const end = (status, text) =>
            extra.taskStore.storeTaskResult(task.taskId, status, { content: [{ type: 'text', text }], isError: status === 'failed' });
          // A cancelled task takes no result.
          void work(extra, task.taskId)
            .then(
              (text) => end('completed', text),
              (error) => end('failed', error.message),
            )
            .catch(() => undefined);
          return { task };
        },
        getTask: (extra) => extra.taskStore.getTask(extra.taskId),
        getTaskResult: (extra) => extra.taskStore.getTaskResult(extra.taskId),
      },
    );
  tool('held', 'required', async (extra, taskId) => {
    await extra.taskStore.updateTaskStatus(taskId, 'working', 'reading sources');
    await held;
    return 'held';
  });
  tool('maybe', 'optional', async () => 'maybe');
  tool('fails', 'required', async () => {
    throw new Error('no sources');
  });
  tool('ask', 'required', async (extra, taskId) => {
    const answer = await extra.sendRequest({ method: 'elicitation/create', params: BRANCH }, ElicitResultSchema, {
      relatedTask: { taskId },
    });
    return JSON.stringify(answer);
  });
  return server;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await taskServer().connect(new StdioServerTransport());
