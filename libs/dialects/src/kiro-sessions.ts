import { z } from 'zod';
import { dialectTool, definedFields } from './dialect.js';

const NOT_THERE = ['inject_context', 'manage_group', 'revive_session'] as const;

const sessionManagement = dialectTool({
  name: 'session_management',
  aliases: ['sessions', 'sessionManagement'],
  tool: 'session_management',
  description: 'Begin sessions of other agents, send them messages, and see how far they are.',
  input: z.strictObject({
    command: z.enum(['spawn_session', 'send_message', 'read_messages', 'list_sessions', 'get_session_status', 'interrupt', ...NOT_THERE]),
    agent_name: z.string().min(1).max(64).optional().meta({ 'x-choices': 'agents' }).describe('For spawn_session.'),
    task: z.string().min(1).max(150_000).optional().describe('For spawn_session.'),
    name: z
      .string()
      .regex(/^[A-Za-z0-9_-]{1,64}$/)
      .optional(),
    role: z.string().max(256).optional().describe('Not supported.'),
    group: z.string().max(256).optional().describe('Not supported.'),
    persistent: z.boolean().optional().describe('Not supported: a session ends with the one that began it.'),
    target: z.string().min(1).max(128).optional(),
    message: z.string().min(1).max(16_000).optional(),
    context: z.string().max(16_000).optional(),
    priority: z.enum(['normal', 'escalation']).optional().describe('Without effect: messages are read in their order.'),
    limit: z.number().int().min(1).max(100).optional(),
    filter: z.string().max(256).optional(),
    verbose: z.boolean().optional().describe('Without effect.'),
    action: z.string().max(64).optional(),
  }),
  adapt: ({ role, group, persistent, context: _context, priority: _priority, verbose: _verbose, action: _action, filter, ...rest }) => {
    const known = NOT_THERE.find((command) => command === rest.command);
    if (known !== undefined) throw new Error(`${known} is not supported: sessions have no groups, and an ended one begins no more`);
    const refused = Object.entries({ role, group, persistent: persistent === true || undefined }).find(([, value]) => value !== undefined);
    if (refused !== undefined)
      throw new Error(`${refused[0]} is not supported: a session has one agent, no group, and ends with its parent`);
    if (filter !== undefined && filter !== 'running' && filter !== 'ended') throw new Error('filter must be running or ended');
    return { tool: 'session_management', args: definedFields({ ...rest, filter }) };
  },
});

export const KIRO_SESSIONS = [sessionManagement];
