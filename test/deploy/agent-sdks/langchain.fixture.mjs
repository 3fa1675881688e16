import { HumanMessage } from '@langchain/core/messages';
import { fakeModel } from '@langchain/core/testing';
import { tool } from '@langchain/core/tools';
import { toolyardTools } from '#client/langchain';
import { calls, client, report, sessionId, signal } from './agent.fixture.mjs';

const tools = await toolyardTools(client, { sessionId, tool });
const model = fakeModel().respondWithTools(calls.map(({ id, name, input }) => ({ id, name, args: input })));
const message = await model.bindTools(tools).invoke([new HumanMessage('Go.')]);
const runs = message.tool_calls.map((call) =>
  tools.find(({ name }) => name === call.name).invoke({ ...call, type: 'tool_call' }, { signal }),
);
const results = await Promise.allSettled(runs);
const read = results.flatMap(({ value }) =>
  value === undefined ? [] : [{ id: value.tool_call_id, text: value.content, isError: value.artifact.isError }],
);
report({ offered: tools.map(({ name }) => ({ name })), read, aborted: signal.aborted });
