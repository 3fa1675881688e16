import { z } from 'zod';
import { Json, type Dialect } from '#contracts';
import type { ToolsApi } from '../../api/tools.api.js';
import { ToolyardError } from '../../toolyard-error.js';
import type { ToolCallbacks } from './callbacks.js';

/** For whom an adapter makes calls. */
export interface AgentSession {
  /**
   * The session of the calls. With the model's id of a tool call it is the key of that call: a step that an agent executes again,
   * also after a restart, gets the call that the first execution made. Keep it with the state of the agent.
   */
  readonly sessionId: string;
  /** The agent of the calls. Not said: that of the API key, if it has one. */
  readonly agentId?: string;
  /** Whose tool names and arguments the model uses. Not said: that of the session, else of the API key. */
  readonly dialect?: Dialect;
  /** Kept with each call, for search. */
  readonly labels?: Readonly<Record<string, string>>;
  /** `false`: an abort ends the waiting and leaves the call. By default it cancels the call, for which the key needs the scope `cancel`. */
  readonly cancelOnAbort?: boolean;
  /**
   * How long an adapter goes on while no gateway answers, in milliseconds; 10 minutes by default. Where nothing has ever answered,
   * the first failure is thrown, unless this is given: for agents that start before their gateway.
   */
  readonly outageMs?: number;
  /** Functions of this process that are asked before a call, and learn of its steps and its end. */
  readonly callbacks?: ToolCallbacks;
}

/** Which tools an adapter gives to the model. */
export interface ToolChoice extends AgentSession {
  /** Only these, by name. By default all that the key may use in the session. */
  readonly include?: readonly string[];
}

const ModelTool = z.object({
  name: z.string(),
  title: z.string().optional(),
  description: z.string(),
  inputSchema: z.record(z.string(), Json),
});

/** A tool, in terms that all agent SDKs share. */
export type AgentTool = z.output<typeof ModelTool>;

/** @throws ToolyardError if `include` has a name that the catalog does not have: a typing error would take a tool from the agent silently */
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
