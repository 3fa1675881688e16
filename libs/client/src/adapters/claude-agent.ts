import type { ToolyardClient } from '../toolyard-client.js';
import { judgeToolUse, PreToolUseInput, type JudgeOptions, type PreToolUseOutput } from './claude/judge-tool-use.js';

export { CLAUDE_TOOLS } from './claude/claude-tools.js';
export { judgeToolUse, PreToolUseInput } from './claude/judge-tool-use.js';
export type { ClaudeDecision, JudgeOptions, PreToolUseOutput } from './claude/judge-tool-use.js';

/** Entry of `mcpServers` of the Claude Agent SDK. */
export type ClaudeMcpServer =
  | { type: 'http'; url: string; headers: Record<string, string> }
  | { type: 'stdio'; command: string; args: string[]; env: Record<string, string> };

export interface McpServerOptions {
  /** Address of the gateway. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Session of the calls. The SDK then starts `toolyard mcp`, since an HTTP server has no setting for it. */
  readonly sessionId?: string;
  /** Agent of the calls; also starts `toolyard mcp`. */
  readonly agentId?: string;
  /** Program and first arguments of the command line tool; default: `toolyard` on the PATH. */
  readonly command?: readonly [string, ...string[]];
}

/**
 * Tools of Toolyard for an agent of the Claude Agent SDK.
 *
 * @example `query({ prompt, options: { mcpServers: { toolyard: toolyardMcpServer({ baseUrl, apiKey }) } } })`
 */
export function toolyardMcpServer(options: McpServerOptions): ClaudeMcpServer {
  const { baseUrl, apiKey, sessionId, agentId, command = ['toolyard'] } = options;
  if (sessionId === undefined && agentId === undefined)
    return { type: 'http', url: `${baseUrl.replace(/\/+$/, '')}/mcp`, headers: { Authorization: `Bearer ${apiKey}` } };
  const [program, ...first] = command;
  const flags = [...(sessionId === undefined ? [] : ['--session', sessionId]), ...(agentId === undefined ? [] : ['--agent', agentId])];
  return { type: 'stdio', command: program, args: [...first, 'mcp', ...flags], env: { TOOLYARD_URL: baseUrl, TOOLYARD_API_KEY: apiKey } };
}

/** Callback for `hooks.PreToolUse` of the Claude Agent SDK. */
export type PreToolUseHook = (
  input: unknown,
  toolUseId: string | undefined,
  more: { readonly signal: AbortSignal },
) => Promise<PreToolUseOutput>;

/**
 * Evaluates each tool use that the agent runs itself, by Toolyard's policy.
 *
 * @example `query({ prompt, options: { hooks: { PreToolUse: [{ hooks: [preToolUseHook(client)] }] } } })`
 */
export function preToolUseHook(client: Pick<ToolyardClient, 'calls'>, options: JudgeOptions = {}): PreToolUseHook {
  return (input, _toolUseId, { signal }) => judgeToolUse(client, PreToolUseInput.parse(input), { ...options, signal });
}
