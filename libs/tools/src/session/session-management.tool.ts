import { z } from 'zod';
import { Tool, ToolError } from '#tool-sdk';
import { GatewayTool } from '../gateway/gateway-tool.js';

const COMMANDS = ['spawn_session', 'send_message', 'read_messages', 'list_sessions', 'get_session_status', 'interrupt'] as const;

export const SessionManagementArguments = z.strictObject({
  command: z.enum(COMMANDS).describe('What to do.'),
  agent_name: z.string().min(1).max(64).optional().meta({ 'x-choices': 'agents' }).describe('For spawn_session: the sub-agent.'),
  task: z.string().min(1).max(150_000).optional().describe('For spawn_session: the task, with all that is needed to do it.'),
  name: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/)
    .optional()
    .describe('For spawn_session: a name by which you mean the session. Not said: its id.'),
  target: z.string().min(1).max(128).optional().describe('For send_message, get_session_status, interrupt: name or id of a session.'),
  message: z.string().min(1).max(16_000).optional().describe('For send_message and interrupt.'),
  limit: z.number().int().min(1).max(100).default(5).describe('For read_messages: how many of the last.'),
  filter: z.enum(['running', 'ended']).optional().describe('For list_sessions. Not said: all.'),
});
type Arguments = z.output<typeof SessionManagementArguments>;

const NEEDED: Readonly<Record<(typeof COMMANDS)[number], readonly (keyof Arguments)[]>> = {
  spawn_session: ['agent_name', 'task'],
  send_message: ['target', 'message'],
  read_messages: [],
  list_sessions: [],
  get_session_status: ['target'],
  interrupt: ['target', 'message'],
};

/**
 * Manages sub-agents in sessions of their own, which outlive the call. Restrictions of the session apply to sessions that it
 * begins.
 * Handled by apps/gateway/src/gateway-tools/session-management.service.ts.
 */
@Tool({
  name: 'session_management',
  label: 'Manage sessions',
  description:
    'Begins sessions of sub-agents and looks after them. spawn_session {agent_name, task, name?} answers {session_id, name, call_id, status} at once; the session has a workspace of its own and the rules of yours. ' +
    'send_message {target, message} reaches its agent between two turns. get_session_status {target} has the result when it has ended. interrupt {target, message} ends it. ' +
    'list_sessions {filter?} has those that your session began for your user, at most 8 running. read_messages {limit?} has what was sent to your own session. Sub-agents do not have it.',
  input: SessionManagementArguments,
  tier: 'side_effecting',
  effect: 'keyed',
  callers: 'main',
  feature: 'session_management',
  subjects: [
    { kind: 'operation', argument: 'command', readOnly: ['read_messages', 'list_sessions', 'get_session_status'] },
    { kind: 'agent', argument: 'agent_name' },
  ],
  timeoutMs: 30_000,
  aliases: ['sessions'],
  examples: [{ title: 'Those there are', arguments: { command: 'list_sessions' } }],
})
export class SessionManagementTool extends GatewayTool {
  check(args: Arguments): void {
    const missing = NEEDED[args.command].filter((name) => args[name] === undefined);
    if (missing.length > 0) throw new ToolError('invalid_arguments', `${args.command} needs ${missing.join(' and ')}`);
  }
}
