import { describe, expect, it } from '@jest/globals';
import type { ToolyardClient } from '../toolyard-client.js';
import * as aiSdk from './ai-sdk.js';
import * as anthropic from './anthropic.js';
import * as claude from './claude-agent.js';
import * as langchain from './langchain.js';
import * as openai from './openai.js';
import * as agents from './openai-agents.js';

const SCHEMA = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'], additionalProperties: false };
const TOOLS = ['file_read', 'shell'].map((name) => ({ name, title: `The ${name}`, description: 'Does it.', inputSchema: SCHEMA }));
const PICTURE = [
  { type: 'text', text: 'a picture' },
  { type: 'image', data: 'aGk=', mimeType: 'image/png' },
];

/** Gateway whose calls all end with this content. */
function gateway(content: unknown[] = [{ type: 'text', text: 'done' }], isError = false) {
  const asked: object[] = [];
  const ended = { id: 'id', status: 'ended', outcome: 'completed', result: { content, isError } };
  const client = {
    tools: { forModel: async () => TOOLS },
    calls: { submit: async (body: object) => (asked.push(body), ended), get: async () => ended },
    batches: {
      submit: async (body: { calls: object[] }, { idempotencyKey }: { idempotencyKey: string }) => {
        asked.push({ ...body, idempotencyKey });
        return { id: 'b', status: 'ended', results: body.calls.map(() => ended), steering: [{ message: 'hurry' }] };
      },
    },
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the methods that are called
  return { client: client as unknown as ToolyardClient, asked };
}

async function last<T>(items: AsyncIterable<T>): Promise<T | undefined> {
  let item: T | undefined;
  for await (item of items);
  return item;
}

describe('tools of an adapter', () => {
  it('offers the included tools by an adapter, and refuses a name that does not exist', async () => {
    const { client } = gateway();
    expect(Object.keys(await aiSdk.toolyardTools(client, { sessionId: 's' }))).toEqual(['file_read', 'shell']);
    expect(Object.keys(await aiSdk.toolyardTools(client, { sessionId: 's', include: ['shell'] }))).toEqual(['shell']);
    await expect(aiSdk.toolyardTools(client, { sessionId: 's', include: ['shel'] })).rejects.toThrow(
      'no tool shel in session s; it has file_read, shell',
    );
  });

  it('gives AI SDK tools a schema in the SDK’s own form, and content for the model', async () => {
    const { client, asked } = gateway(PICTURE);
    const { shell } = await aiSdk.toolyardTools(client, { sessionId: 's' });
    expect(shell).toMatchObject({
      type: 'dynamic',
      title: 'The shell',
      description: 'Does it.',
      inputSchema: { jsonSchema: SCHEMA, [Symbol.for('vercel.ai.schema')]: true },
    });
    const output = await last(shell!.execute({ path: 'a' }, { toolCallId: 'call_1' }));
    expect(asked).toEqual([{ tool: 'shell', arguments: { path: 'a' }, sessionId: 's', toolCallId: 'call_1' }]);
    const stored: unknown = JSON.parse(JSON.stringify(output));
    expect(shell!.toModelOutput({ output: stored })).toEqual({
      type: 'content',
      value: [
        { type: 'text', text: 'a picture' },
        { type: 'image-data', data: 'aGk=', mediaType: 'image/png' },
      ],
    });
    expect(shell!.toModelOutput({ output: { status: 'ended', text: 'no', content: [], isError: true } })).toEqual({
      type: 'error-text',
      value: 'no',
    });
  });

  it('makes tools for LangChain by its `tool`, with the answer as artifact', async () => {
    const { client, asked } = gateway(PICTURE);
    const [tool] = await langchain.toolyardTools(client, { sessionId: 's', tool: (run, fields) => ({ run, fields }) });
    expect(tool?.fields).toEqual({ name: 'file_read', description: 'Does it.', schema: SCHEMA, responseFormat: 'content_and_artifact' });
    const [content, artifact] = await tool!.run({ path: 'a' }, { toolCall: { id: 'call_1' } });
    expect(content).toEqual([
      { type: 'text', text: 'a picture' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } },
    ]);
    expect(artifact).toMatchObject({ callId: 'id', isError: false });
    expect(asked).toMatchObject([{ toolCallId: 'call_1' }]);
  });

  it('passes the model’s text unchanged in tools for OpenAI Agents', async () => {
    const { client, asked } = gateway(PICTURE);
    const [tool] = await agents.toolyardTools(client, { sessionId: 's' });
    expect(tool).toMatchObject({ type: 'function', name: 'file_read', strict: false, parameters: SCHEMA });
    expect(await tool!.invoke({}, '{"path":', { toolCall: { callId: 'call_1' } })).toEqual([
      { type: 'text', text: 'a picture' },
      { type: 'image', image: 'data:image/png;base64,aGk=' },
    ]);
    expect(asked).toMatchObject([{ arguments: '{"path":', toolCallId: 'call_1' }]);
  });

  it('throws error results of Anthropic tools in the class that the runner recognises', async () => {
    class ToolError extends Error {
      constructor(readonly content: unknown) {
        super('tool error');
      }
    }
    const context = { toolUse: { id: 'toolu_1' } };
    const [fine] = await anthropic.toolyardTools(gateway(PICTURE).client, { sessionId: 's' });
    expect(await fine!.run({}, context)).toEqual([
      { type: 'text', text: 'a picture' },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } },
    ]);
    const failing = gateway([{ type: 'text', text: 'no such file' }], true).client;
    const [exact] = await anthropic.toolyardTools(failing, { sessionId: 's', ToolError });
    await expect(exact!.run({}, context)).rejects.toMatchObject({ content: [{ type: 'text', text: 'no such file' }] });
    const [plain] = await anthropic.toolyardTools(failing, { sessionId: 's' });
    await expect(plain!.run({}, context)).rejects.toThrow('no such file');
  });
});

describe('a loop', () => {
  it('runs the calls of a message of Chat Completions as one batch, and answers each', async () => {
    const { client, asked } = gateway();
    const message = {
      tool_calls: [
        { id: 'a', type: 'function' as const, function: { name: 'shell', arguments: '{}' } },
        { id: 'b', type: 'custom' as const, custom: {} },
      ],
    };
    expect(await openai.runChatToolCalls(client, message, { sessionId: 's', strategy: { type: 'parallel' } })).toEqual([
      { role: 'tool', tool_call_id: 'a', content: 'done' },
      { role: 'tool', tool_call_id: 'b', content: 'Calls of type custom are not supported.' },
      { role: 'user', content: 'hurry' },
    ]);
    expect(asked).toEqual([
      {
        sessionId: 's',
        strategy: { type: 'parallel' },
        calls: [{ tool: 'shell', arguments: '{}', toolCallId: 'a' }],
        idempotencyKey: 'turn:a',
      },
    ]);
    expect(await openai.runChatToolCalls(client, { tool_calls: null }, { sessionId: 's' })).toEqual([]);
  });

  it('leaves out items of Responses that are no calls', async () => {
    const output = [{ type: 'reasoning' }, { type: 'function_call', call_id: 'a', name: 'shell', arguments: '{}' }];
    expect(await openai.runResponsesToolCalls(gateway().client, output, { sessionId: 's' })).toEqual([
      { type: 'function_call_output', call_id: 'a', output: 'done' },
      { role: 'user', content: 'hurry' },
    ]);
  });

  it('marks errors of Messages and sends no empty text', async () => {
    const content = [{ type: 'text' }, { type: 'tool_use', id: 'a', name: 'shell', input: {} }];
    expect(await anthropic.runToolUses(gateway([{ type: 'text', text: '\n' }], true).client, content, { sessionId: 's' })).toEqual([
      { type: 'tool_result', tool_use_id: 'a', content: [], is_error: true },
      { type: 'text', text: 'hurry' },
    ]);
  });
});

it('names content without a place in an SDK in a text, without its bytes', async () => {
  const content = [
    { type: 'json', json: { a: 1 } },
    { type: 'audio', data: 'aGk=', mimeType: 'audio/wav' },
    { type: 'resource', resource: { uri: 'file:///a', text: 'its text' } },
    { type: 'resource', resource: { uri: 'file:///b', blob: 'aGk=', mimeType: 'application/zip' } },
  ];
  const [tool] = await agents.toolyardTools(gateway(content).client, { sessionId: 's' });
  expect(await tool!.invoke({}, '{}')).toBe(
    '{"a":1}\n[audio of type audio/wav, which cannot be shown here]\nits text\n[file:///b, of type application/zip, which cannot be shown here]',
  );
});

describe('toolyardMcpServer', () => {
  const baseUrl = 'http://127.0.0.1:7411/';

  it('configures the gateway’s address as MCP server, or the command line tool for calls with a session', () => {
    expect(claude.toolyardMcpServer({ baseUrl, apiKey: 'k' })).toEqual({
      type: 'http',
      url: 'http://127.0.0.1:7411/mcp',
      headers: { Authorization: 'Bearer k' },
    });
    expect(claude.toolyardMcpServer({ baseUrl, apiKey: 'k', sessionId: 's', agentId: 'a' })).toEqual({
      type: 'stdio',
      command: 'toolyard',
      args: ['mcp', '--session', 's', '--agent', 'a'],
      env: { TOOLYARD_URL: baseUrl, TOOLYARD_API_KEY: 'k' },
    });
    expect(claude.toolyardMcpServer({ baseUrl, apiKey: 'k', sessionId: 's', command: ['node', '/toolyard.mjs'] })).toMatchObject({
      command: 'node',
      args: ['/toolyard.mjs', 'mcp', '--session', 's'],
    });
  });
});
