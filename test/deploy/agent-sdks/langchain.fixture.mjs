import { HumanMessage } from '@langchain/core/messages';
import { fakeModel } from '@langchain/core/testing';
import { tool } from '@langchain/core/tools';
import { toolyardTools } from '#client/langchain';
import { calls, client, mcp, report, sessionId, signal } from './agent.fixture.mjs';

const servers =
  mcp && new (await import('@langchain/mcp-adapters')).MultiServerMCPClient({ mcpServers: { toolyard: { transport: 'http', ...mcp } } });
const tools = servers === undefined ? await toolyardTools(client, { sessionId, tool }) : await servers.getTools();
const model = fakeModel().respondWithTools(calls.map(({ id, name, input }) => ({ id, name, args: input })));
const message = await model.bindTools(tools).invoke([new HumanMessage('Go.')]);
const runs = message.tool_calls.map((call) =>
  tools.find(({ name }) => name === call.name).invoke({ ...call, type: 'tool_call' }, { signal }),
);
const results = await Promise.allSettled(runs);
const read = results.flatMap(({ value, reason }, index) => {
  // The MCP client of LangChain throws what is an error.
  if (value === undefined) return servers === undefined ? [] : [{ id: calls[index].id, text: String(reason), isError: true }];
  const text = typeof value.content === 'string' ? value.content : JSON.stringify(value.content);
  return [{ id: value.tool_call_id, text, isError: value.artifact?.isError ?? false }];
});
await servers?.close();
report({ offered: tools.map(({ name }) => ({ name })), read, aborted: signal.aborted });
