import { z } from 'zod';
import { Dialect } from './dialect.js';
import { Label } from './names.js';
import { AgentGlob, DEFAULT_SCOPES, Scope, UserGlob } from './principal.js';

/** Rights of a key, in the config file and in `POST /v1/keys`. */
export const KEY_RIGHTS = {
  agent: Label.optional().describe('The agent that calls with this key are of when they name none.'),
  agents: z
    .array(AgentGlob)
    .optional()
    .describe(
      'The agents that a call with this key may name in `agentId`, as names or globs. Not set: only the own `agent`; without one a call names none.',
    ),
  user: Label.optional().describe('The user of the calls with this key: whose notes and facts its tools read and write.'),
  users: z
    .array(UserGlob)
    .optional()
    .describe(
      'The users that a call with this key may name in `userId`, as ids or globs; for programs that act for many users. Not set: only the own `user`; without one a call names none.',
    ),
  scopes: z
    .array(Scope)
    .min(1)
    .default([...DEFAULT_SCOPES])
    .describe('What the key may do. `approve`, `admin` and `operate` only where they are listed.'),
  tools: z
    .array(z.string().min(1))
    .optional()
    .describe('Patterns of the tools that the key may use; behind `!`, of those that it may not use. Not set: all.'),
  dialect: Dialect.optional().describe(
    'Whose tool names and arguments its calls use where neither call nor session says. Not set: `core`.',
  ),
  ratePerMinute: z
    .number()
    .int()
    .positive()
    .optional()
    .describe('Requests a minute, over all gateways. Not set: KEY_RATE_PER_MINUTE of each gateway.'),
  expiresAt: z.iso
    .datetime({ offset: true, error: 'expected an RFC 3339 time such as 2030-01-31T00:00:00Z' })
    .optional()
    .describe('RFC 3339 time at which the key stops working. Not set: never.'),
};

const Rights = z.strictObject(KEY_RIGHTS);
export type KeyRights = z.output<typeof Rights>;
