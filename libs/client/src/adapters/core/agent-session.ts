import { z } from 'zod';
import { Json, type Dialect } from '#contracts';
import type { ToolsApi } from '../../api/tools.api.js';
import { ToolyardError } from '../../toolyard-error.js';
import type { ToolCallbacks } from './callbacks.js';

/** Session and options of an adapter's calls. */
export interface AgentSession {
  /**
   * Session of the calls. With the model's id of a tool call it is the key of that call: a repeated step of an agent, also
   * after a restart, gets the call of the first execution. To be stored with the state of the agent.
   */
  readonly sessionId: string;
  /** Agent of the calls. Default: the API key's agent, if any. */
  readonly agentId?: string;
  /** Dialect of tool names and arguments. Default: the session's, else the API key's. */
  readonly dialect?: Dialect;
  /** Labels stored with each call, for search. */
  readonly labels?: Readonly<Record<string, string>>;
  /** `false`: an abort ends the wait and leaves the call running. Default: cancels the call, which needs the scope `cancel`. */
  readonly cancelOnAbort?: boolean;
  /**
   * Time in milliseconds for which an adapter retries while no gateway responds. Default: 10 minutes. If nothing has ever
   * responded, the first failure is thrown unless this is set, for agents that start before their gateway.
   */
  readonly outageMs?: number;
  /** Callbacks of this process before a call, on its steps and at its end. */
  readonly callbacks?: ToolCallbacks;
}

/** Tools that an adapter gives to the model. */
export interface ToolChoice extends AgentSession {
  /** Names of the tools. Default: all that the key may use in the session. */
  readonly include?: readonly string[];
}

const ModelTool = z.object({
  name: z.string(),
  title: z.string().optional(),
  description: z.string(),
  inputSchema: z.record(z.string(), Json),
});

/** Tool in terms that all agent SDKs share. */
export type AgentTool = z.output<typeof ModelTool>;

/** @throws ToolyardError for a name in `include` that the catalog lacks: a typing error would remove a tool silently */
export async function listAgentTools(client: { readonly tools: Pick<ToolsApi, 'forModel'> }, choice: ToolChoice): Promise<AgentTool[]> {
  const { sessionId, agentId, dialect, include } = choice;
  const tools = (await client.tools.forModel('mcp', { sessionId, agentId, dialect })).map((tool) => ModelTool.parse(tool));
  if (include === undefined) return tools;
  const names = tools.map(({ name }) => name);
  const missing = include.filter((name) => !names.includes(name));
  if (missing.length > 0)
    throw new ToolyardError('not_found', `include: no tool ${missing.join(', ')} in session ${sessionId}; it has ${names.join(', ')}`);
  return tools.filter(({ name }) => include.includes(name));
}
