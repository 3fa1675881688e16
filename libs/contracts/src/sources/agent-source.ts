import { z } from 'zod';
import { BatchStrategy } from '../policy/batch-strategy.js';
import { ToolPattern } from '../policy/policy-config.js';
import { ToolTier } from '../tools/tool.js';
import { SecretRef, SourceName } from './source-fields.js';

/** Budget of a sub-agent, unless its definition sets one. */
export const AGENT_DEFAULTS = { turns: 10, depth: 1, tokens: 1_000_000, modelMs: 300_000, calls: 100 } as const;

export const AgentModel = z
  .strictObject({
    provider: z
      .enum(['openai-compatible', 'anthropic'])
      .describe('The API that the server speaks: chat completions as of OpenAI, or messages as of Anthropic.'),
    name: z.string().min(1).max(200).describe('The name of the model, as the server knows it.'),
    url: z
      .url({ protocol: /^https?$/ })
      .max(2_048)
      .refine((url) => !/[?#@]/.test(url), 'expected an address without user, query and fragment')
      .describe('Base address of the API, such as `https://api.openai.com/v1`. Requests go to this host only; redirects are not followed.'),
    apiKey: SecretRef.optional().describe('The key of the API, as the name of an environment variable of the workers. Not set: none.'),
    maxOutputTokens: z.number().int().min(1).max(1_000_000).default(8_192).describe('Most tokens of one answer.'),
    thinkingLevel: z
      .enum(['low', 'medium', 'high'])
      .optional()
      .describe(
        'How much the model thinks before it answers, where it can. For `anthropic`: 2,048, 8,192 or 24,576 tokens besides `maxOutputTokens`. Not set: as the model does.',
      ),
    timeoutMs: z.number().int().min(1).max(600_000).default(120_000).describe('Longest wait for one answer.'),
  })
  .meta({ id: 'AgentModel', description: 'The model of a sub-agent and where it is.' });
export type AgentModel = z.output<typeof AgentModel>;

const LOOKING = 'file_read file_list file_search glob code web_fetch web_search tool_search skill structured_output'.split(' ');
const EDITING = 'shell powershell repl file_read file_list file_write file_edit file_search glob'.split(' ');

/** Known kinds of sub-agents, and patterns of the tools that each may have at most. None has sub-agents. */
export const AGENT_TYPES = {
  'general-purpose': ['*'],
  explore: LOOKING,
  plan: [...LOOKING, 'todo_write', 'send_user_message'],
  verification: [...LOOKING, 'shell', 'powershell', 'todo_write', 'send_user_message'],
  'claude-code-guide': [...LOOKING, 'send_user_message'],
  'statusline-setup': [...EDITING, 'tool_search'],
} as const satisfies Readonly<Record<string, readonly string[]>>;
export const AgentType = z.enum(['general-purpose', 'explore', 'plan', 'verification', 'claude-code-guide', 'statusline-setup']);

/** Sub-agent: a tool whose run is a loop of model turns and calls. Its name is the tool's. */
export const AgentSourceDefinition = z
  .strictObject({
    kind: z.literal('agent'),
    name: SourceName.describe('Name of the sub-agent and of its tool.'),
    description: z
      .string()
      .min(1)
      .max(20_000)
      .optional()
      .describe("What the models that may call it read. Not set: Delegate a task to the '<name>' sub-agent."),
    model: AgentModel.describe('The model that it asks.'),
    type: AgentType.optional().describe(
      'A known kind of sub-agent: it has the tools of that kind, or of these only those that `tools` names, and calls no sub-agents. Not set: the tools of `tools`.',
    ),
    system: z.string().max(100_000).default('').describe('Its instructions: the system prompt.'),
    tools: z
      .array(ToolPattern)
      .max(500)
      .default([])
      .describe('Patterns of the tools that it may call. Of these it has what session, agent and key of its own call have.'),
    strategy: BatchStrategy.optional().describe(
      'In which order the calls of one answer of the model run. Not set: as the calls of a batch, by the strategy of the session, else that of the profile (`core`: `tiered`). Where they run in groups, a message of a person to the session leaves out the groups that have not begun.',
    ),
    memory: z
      .boolean()
      .default(false)
      .describe(
        'Gives the model what the memory of the user of its call has about the task, before the first turn, and keeps task and answer as a conversation. Only where the key and session of the call have memory_recall, memory_search and memory_turn.',
      ),
    tier: ToolTier.default('privileged').describe(
      'What policy takes a call of it for. Its own calls are evaluated one by one. Other than `privileged`: config file only.',
    ),
    maxTurns: z.number().int().min(1).max(100).default(AGENT_DEFAULTS.turns).describe('Most requests to the model.'),
    maxDepth: z
      .number()
      .int()
      .min(1)
      .max(4)
      .default(AGENT_DEFAULTS.depth)
      .describe('Levels of sub-agents, itself included. 1: it calls no sub-agents, whatever `tools` says.'),
    budgets: z
      .strictObject({
        tokens: z.number().int().min(1).default(AGENT_DEFAULTS.tokens).describe('Most tokens, read and written, of all turns.'),
        modelMs: z
          .number()
          .int()
          .min(1)
          .default(AGENT_DEFAULTS.modelMs)
          .describe('Longest wait for models, of all turns, in milliseconds.'),
        calls: z.number().int().min(1).max(10_000).default(AGENT_DEFAULTS.calls).describe('Most calls.'),
      })
      .prefault({})
      .describe('What one run may use up, what its own sub-agents use included. At a limit the run ends with what there is.'),
    timeoutMs: z
      .number()
      .int()
      .min(1)
      .max(600_000)
      .default(600_000)
      .describe('Longest time of one turn. How long the whole call may take is `timeouts.totalMs` of the call.'),
    trust: z.literal(true).default(true).describe('Always true: its facts come from the definition.'),
    pin: z.literal(false).default(false).describe('Always false: a change of the definition counts at once.'),
    pool: z.literal('agent').default('agent').describe('The pool whose workers ask the models.'),
  })
  .meta({ id: 'AgentSourceDefinition', description: 'A sub-agent as a tool.' });
export type AgentSourceDefinition = z.output<typeof AgentSourceDefinition>;

export const AgentArguments = z.strictObject({
  task: z
    .string()
    .min(1)
    .max(200_000)
    .describe('The task, with all that is needed to do it: the sub-agent sees nothing of this conversation.'),
});

/** Names by which a pattern means exactly this sub-agent. */
function namesOf(agent: string): ReadonlySet<string> {
  return new Set([agent, `${agent}__${agent}`, `@${agent}`, `@${agent}/${agent}`, `@${agent}/*`]);
}

interface ConfiguredSource {
  readonly kind: string;
  readonly name: string;
  readonly tenant: string;
}

/** First pattern that names one of `agents`, in a sub-agent that may call no others, and the named agent; undefined without one. */
export function listedAgent(
  { tools = [], maxDepth = 1 }: Partial<Pick<AgentSourceDefinition, 'tools' | 'maxDepth'>>,
  agents: readonly string[],
): { readonly at: number; readonly agent: string } | undefined {
  if (maxDepth > 1) return undefined;
  for (const [at, pattern] of tools.entries()) {
    const agent = agents.find((it) => namesOf(it).has(pattern));
    if (agent !== undefined) return { at, agent };
  }
  return undefined;
}

/** Error for a sub-agent that lists another one. */
export function listedAgentText(name: string, agent: string): string {
  return `expected no sub-agent among the tools of the sub-agent ${name}, found ${agent}: take it out, or set maxDepth to 2`;
}

/** Rejects a sub-agent that lists another one, or itself, and may not call any. */
export function checkAgentTools(
  sources: readonly (ConfiguredSource & Partial<Pick<AgentSourceDefinition, 'tools' | 'maxDepth'>>)[],
  context: z.RefinementCtx,
): void {
  const agents = sources.filter(({ kind }) => kind === 'agent');
  for (const [index, { kind, name, tenant, ...definition }] of sources.entries()) {
    if (kind !== 'agent') continue;
    const visible = agents.filter((it) => it.tenant === tenant || it.tenant === '*').map((it) => it.name);
    const listed = listedAgent(definition, visible);
    if (listed !== undefined)
      context.addIssue({ code: 'custom', path: [index, 'tools', listed.at], message: listedAgentText(name, listed.agent) });
  }
}
