import { describe, expect, it } from '@jest/globals';
import * as aiSdk from './adapters/ai-sdk.js';
import * as anthropic from './adapters/anthropic.js';
import * as langchain from './adapters/langchain.js';
import * as agents from './adapters/openai-agents.js';
import * as openai from './adapters/openai.js';
import { ToolFactories } from './loop/tool-factories.js';
import { ToolyardClient } from './toolyard-client.js';

const SESSION = { sessionId: 's', dialect: 'claude-code' } as const;
const CALL = { id: 'a', name: 'Bash', arguments: '{}' };
const TOOL = { name: 'Bash', description: 'Does it.', inputSchema: { type: 'object' }, parameters: { type: 'object' } };

/** Gateway with one tool, which rejects all calls. Records the dialect of each request. */
function gateway() {
  const [listed, called]: [unknown[], unknown[]] = [[], []];
  const fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const { pathname, searchParams } = new URL(input instanceof Request ? input.url : input);
    if (pathname === '/v1/tools') {
      listed.push(searchParams.get('dialect'));
      return Response.json({ tools: [TOOL] });
    }
    const body: unknown = await new Response(init?.body).json();
    called.push(body);
    return Response.json({ code: 'invalid_arguments', detail: 'refused' }, { status: 400 });
  };
  return { client: new ToolyardClient({ baseUrl: 'http://gateway.test', apiKey: 'key', retries: 0, fetch }), listed, called };
}

describe('the dialect of a model', () => {
  it.each<[string, (client: ToolyardClient) => Promise<unknown>]>([
    [
      'the AI SDK',
      async (client) => {
        for await (const _step of (await aiSdk.toolyardTools(client, SESSION))['Bash']!.execute({}, { toolCallId: 'a' }));
      },
    ],
    ['LangChain', async (client) => (await langchain.toolyardTools(client, { ...SESSION, tool: (run) => run }))[0]!({})],
    ['OpenAI Agents', async (client) => (await agents.toolyardTools(client, SESSION))[0]!.invoke({}, '{}')],
    ['Anthropic', async (client) => (await anthropic.toolyardTools(client, SESSION))[0]!.run({})],
    ['a loop of its own', async (client) => (await ToolFactories.withDefaults(client, SESSION)).resolve(['Bash'])[0]!.run('{}')],
  ])('puts the dialect of a model into the catalog and the calls of %s', async (_sdk, run) => {
    const { client, listed, called } = gateway();
    await run(client).catch(() => undefined);
    expect(listed).toEqual(['claude-code']);
    expect(called).toMatchObject([{ tool: 'Bash', dialect: 'claude-code' }]);
  });

  it('puts the dialect of a model into a call of execute', async () => {
    const { client, called } = gateway();
    await client.execute('Bash', '{}', SESSION).catch(() => undefined);
    expect(called).toMatchObject([{ tool: 'Bash', dialect: 'claude-code' }]);
  });

  it.each<[string, (client: ToolyardClient) => Promise<unknown>]>([
    ['executeAll', (client) => client.executeAll([CALL], SESSION)],
    [
      'Chat Completions',
      (client) =>
        openai.runChatToolCalls(
          client,
          { tool_calls: [{ id: 'a', type: 'function', function: { name: 'Bash', arguments: '{}' } }] },
          SESSION,
        ),
    ],
    [
      'Responses',
      (client) => openai.runResponsesToolCalls(client, [{ type: 'function_call', call_id: 'a', name: 'Bash', arguments: '{}' }], SESSION),
    ],
    ['Messages', (client) => anthropic.runToolUses(client, [{ type: 'tool_use', id: 'a', name: 'Bash', input: {} }], SESSION)],
  ])('puts the dialect of a model into the calls of a batch of %s', async (_api, run) => {
    const { client, called } = gateway();
    await run(client).catch(() => undefined);
    expect(called).toMatchObject([{ calls: [{ tool: 'Bash', dialect: 'claude-code' }] }]);
  });
});
