// The tools that the MCP conformance suite asks of a server, as a server of its own that Toolyard bridges.
import { setTimeout as sleep } from 'node:timers/promises';
import {
  CLIENT_CAPABILITIES_META_KEY,
  inputRequired,
  Server,
  type CallToolResult,
  type ContentBlock,
  type InputRequiredResult,
  type ServerContext,
  type Tool,
} from '@modelcontextprotocol/server';

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const SILENCE = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA==';

type Arguments = Readonly<Record<string, unknown>>;
interface FixtureTool {
  /** The user of the client is asked before it runs. */
  readonly asks?: true;
  readonly inputSchema?: Tool['inputSchema'];
  readonly run: (args: Arguments, ctx: ServerContext) => Answer | Promise<Answer>;
}
type Answer = CallToolResult | InputRequiredResult;
type Form = Extract<Parameters<typeof inputRequired.elicit>[0]['requestedSchema'], { type: 'object' }>;

/** Far above `TASK_MS`: then the gateway answers with a task. */
const SLOW_MS = 4_000;
/** How long the gateway waits before it answers with a task. Enough for a tool that answers at once on a busy machine. */
export const TASK_MS = 3_000;

const text = (words: string): CallToolResult => ({ content: [{ type: 'text', text: words }] });
const embedded = (uri: string, mimeType: string, words: string): ContentBlock => ({
  type: 'resource',
  resource: { uri, mimeType, text: words },
});
const formOf = (properties: Form['properties'], required: readonly string[] = []): Form => ({
  type: 'object',
  properties,
  required: [...required],
});
/** Asks for the answer of this key, and then ends with it. */
const askedFor = (key: string, request: NonNullable<Parameters<typeof inputRequired>[0]['inputRequests']>[string]): FixtureTool => ({
  run: (_args, { mcpReq }) => {
    const answer = mcpReq.inputResponses?.[key];
    return answer === undefined ? inputRequired({ inputRequests: { [key]: request } }) : text(`answered: ${JSON.stringify(answer)}`);
  },
});
const elicited = (message: string, requestedSchema: Form) => askedFor('form', inputRequired.elicit({ message, requestedSchema }));
const sampled = (words: string) =>
  inputRequired.createMessage({ messages: [{ role: 'user', content: { type: 'text', text: words } }], maxTokens: 100 });
const NAME = formOf({ name: { type: 'string' } }, ['name']);

/** Defaults in the suite's scenarios of SEP-1034 and SEP-1330. */
const DEFAULTS = formOf({
  name: { type: 'string', default: 'John Doe' },
  age: { type: 'integer', default: 30 },
  score: { type: 'number', default: 95.5 },
  status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
  verified: { type: 'boolean', default: true },
});
const titled = (...words: readonly string[]) => words.map((word) => ({ const: word, title: `The ${word}` }));
const ENUMS = formOf({
  untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
  titledSingle: { type: 'string', oneOf: titled('value1', 'value2', 'value3') },
  legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['Option One', 'Option Two', 'Option Three'] },
  untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
  titledMulti: { type: 'array', items: { anyOf: titled('value1', 'value2', 'value3') } },
});

const SECONDS: Tool['inputSchema'] = { type: 'object', properties: { seconds: { type: 'number' }, label: { type: 'string' } } };

/** Schema of the suite's scenario `json-schema-2020-12`. */
const SCHEMA_2020_12: Tool['inputSchema'] = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: { $anchor: 'addressDef', type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
};

/** Tools by name: input schema (default: an empty object) and the behaviour of a call. */
const TOOLS: Readonly<Record<string, FixtureTool>> = {
  test_simple_text: { run: () => text('This is a simple text response for testing.') },
  test_image_content: { run: () => ({ content: [{ type: 'image', data: PIXEL, mimeType: 'image/png' }] }) },
  test_audio_content: { run: () => ({ content: [{ type: 'audio', data: SILENCE, mimeType: 'audio/wav' }] }) },
  test_embedded_resource: {
    run: () => ({ content: [embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')] }),
  },
  test_multiple_content_types: {
    run: () => ({
      content: [
        { type: 'text', text: 'Multiple content types test:' },
        { type: 'image', data: PIXEL, mimeType: 'image/png' },
        embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
      ],
    }),
  },
  test_error_handling: { run: () => ({ ...text('This tool intentionally returns an error for testing'), isError: true }) },
  test_tool_with_progress: {
    run: async (_args, { mcpReq }) => {
      const { progressToken } = mcpReq._meta ?? {};
      for (const progress of [0, 50, 100]) {
        if (progressToken !== undefined)
          await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } });
        await sleep(progress === 100 ? 0 : 50);
      }
      return text('done');
    },
  },
  json_schema_2020_12_tool: { inputSchema: SCHEMA_2020_12, run: () => text('valid') },
  test_custom_header: {
    inputSchema: { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } }, required: ['region'] },
    run: ({ region }) => text(String(region)),
  },
  test_elicitation: { asks: true, run: () => text('approved') },
  test_input_required_result_elicitation: { asks: true, run: () => text('approved') },
  test_input_required_result_request_state: { asks: true, run: () => text('approved') },
  test_input_required_result_tampered_state: { asks: true, run: () => text('approved') },
  test_streaming_elicitation: elicited('What is your name?', NAME),
  test_logging_tool: {
    run: async (_args, { mcpReq }) => {
      await mcpReq.notify({ method: 'notifications/message', params: { level: 'info', data: 'for a client that asks for it' } });
      return text('logged');
    },
  },
  test_elicitation_sep1034_defaults: elicited('Who are you?', DEFAULTS),
  test_elicitation_sep1330_enums: elicited('Which options?', ENUMS),
  confirm_delete: {
    ...elicited('Delete it?', formOf({ confirm: { type: 'boolean' } }, ['confirm'])),
    inputSchema: { type: 'object', properties: { filename: { type: 'string' } } },
  },
  test_sampling: {
    inputSchema: { type: 'object', properties: { prompt: { type: 'string' } }, required: ['prompt'] },
    run: (args, ctx) => askedFor('model', sampled(String(args['prompt']))).run(args, ctx),
  },
  test_missing_capability: askedFor('model', sampled('Name a colour')),
  test_input_required_result_sampling: askedFor('capital_question', sampled('What is the capital of France?')),
  test_input_required_result_capabilities: {
    run: (args, ctx) => {
      const envelope: Readonly<Record<string, unknown>> = ctx.mcpReq.envelope ?? {};
      const capabilities = envelope[CLIENT_CAPABILITIES_META_KEY];
      const hasModel = typeof capabilities === 'object' && capabilities !== null && 'sampling' in capabilities;
      const asking = !hasModel ? elicited('What is your name?', NAME) : askedFor('model', sampled('Name a colour'));
      return asking.run(args, ctx);
    },
  },
  test_input_required_result_multi_round: {
    run: (_args, { mcpReq }) => {
      const [step1, step2] = [mcpReq.inputResponses?.['step1'], mcpReq.inputResponses?.['step2']];
      if (step2 !== undefined) return text(`done: ${String(mcpReq.requestState())} ${JSON.stringify(step2)}`);
      const [key, requestState] = step1 === undefined ? ['step1', 'one'] : ['step2', `two ${JSON.stringify(step1)}`];
      return inputRequired({
        inputRequests: { [key]: inputRequired.elicit({ message: `What is your name (${key})?`, requestedSchema: NAME }) },
        requestState,
      });
    },
  },
  greet: { inputSchema: { type: 'object', properties: { name: { type: 'string' } } }, run: ({ name }) => text(`Hello, ${String(name)}!`) },
  slow_compute: {
    inputSchema: SECONDS,
    run: async (args, { mcpReq }) => {
      const seconds = Number(args['seconds'] ?? 0);
      await sleep(seconds === 0 ? 0 : SLOW_MS + seconds * 1000, undefined, { signal: mcpReq.signal });
      return text(`computed ${String(args['label'])}`);
    },
  },
  failing_job: {
    run: async () => {
      await sleep(SLOW_MS);
      return { ...text('the job failed'), isError: true };
    },
  },
};

export function createConformanceServer(): Server {
  const server = new Server({ name: 'conformance-fixture', version: '1.0.0' }, { capabilities: { tools: {}, logging: {} } });
  server.setRequestHandler('tools/list', () => ({
    tools: Object.entries(TOOLS).map(([name, { inputSchema, asks }]) => ({
      name,
      description: `The tool ${name} of the suite.`,
      inputSchema: inputSchema ?? { type: 'object', properties: {} },
      annotations: asks ? { destructiveHint: true } : { readOnlyHint: true },
    })),
  }));
  server.setRequestHandler('tools/call', ({ params }, ctx) => {
    const tool = TOOLS[params.name];
    if (tool === undefined) throw new Error(`unknown tool ${params.name}`);
    return tool.run(params.arguments ?? {}, ctx);
  });
  return server;
}
