import { z } from 'zod';
import { Dialect } from './dialect.js';
import { Label } from './names.js';

/** Scopes of a key in the config file, unless its entry sets others. */
export const DEFAULT_SCOPES = ['submit', 'read', 'cancel'] as const;
/**
 * All scopes. `approve` and `admin` loosen the evaluation of calls, `operate` affects all tenants, `work` runs calls: a key
 * needs them in its entry.
 */
export const SCOPES = [...DEFAULT_SCOPES, 'approve', 'admin', 'operate', 'work'] as const;
export const Scope = z.enum(SCOPES).meta({
  id: 'Scope',
  description:
    'What a key may do. `approve`: answer questions; `admin`: change what calls are evaluated by, and erase their content; `operate`: see and drain what serves all tenants; `work`: announce tools and run their calls.',
});
export type Scope = z.output<typeof Scope>;

export const AgentGlob = z
  .string()
  .regex(/^[A-Za-z0-9._@*?-]{1,128}$/, 'expected 1 to 128 of the characters A-Z a-z 0-9 . _ @ - and the wildcards * ?')
  .meta({ id: 'AgentGlob', description: 'Names of agents, such as `deployer` or `team-a-*`; `*` stands for any characters, `?` for one.' });

export const UserGlob = z
  .string()
  .regex(/^[A-Za-z0-9._@*?-]{1,128}$/, 'expected 1 to 128 of the characters A-Z a-z 0-9 . _ @ - and the wildcards * ?')
  .meta({ id: 'UserGlob', description: 'Ids of users, such as `alice` or `*@example.com`; `*` stands for any characters, `?` for one.' });

export const Person = z
  .object({
    subject: z.string().describe('The claim of the provider that names the person: `sub`, or `login.subjectClaim`.'),
    name: z.string().optional().describe('Their name, as the provider says. Absent where it says none.'),
    email: z.string().optional().describe('Their e-mail address, as the provider says. Absent where it says none.'),
  })
  .meta({ id: 'Person', description: 'A person who has signed in.' });
export type Person = z.output<typeof Person>;

/** Caller of a request, found from the key by the guard. `keyId` is a short public id, never the key. */
export const Principal = z.object({
  keyId: z.string().describe('A short public id of the key, never the key.'),
  tenantId: Label.describe('The owner of the key.'),
  agentId: Label.optional().describe('The agent of calls that name none. Absent without one.'),
  agents: z.array(AgentGlob).optional().describe('Globs of the agents that calls may name besides `agentId`. Absent = none.'),
  userId: Label.optional().describe('The user of its calls. Absent without one.'),
  users: z.array(UserGlob).optional().describe('Globs of the users that calls may name besides `userId`. Absent = none.'),
  scopes: z.array(Scope).describe('What the key may do.'),
  tools: z.array(z.string()).optional().describe('Patterns of the tools that the key may use. Absent = all.'),
  dialect: Dialect.optional().describe('The dialect of its calls where neither call nor session says. Absent = `core`.'),
  workerSecrets: z.boolean().optional().describe('Workers with the key get the secrets of their source. Absent = not.'),
  person: Person.optional().describe('The person who has signed in. Absent for keys and tokens.'),
  ratePerMinute: z.number().int().positive().optional().describe('Requests a minute that the key may make. Absent without a bound.'),
  expiresAt: z.iso.datetime({ offset: true }).optional().describe('When the key ends: RFC 3339. Absent for a key without an end.'),
});
export type Principal = z.output<typeof Principal>;

/** Rights of a token, stored with its submitted call. */
export const TokenRights = Principal.pick({
  scopes: true,
  tools: true,
  agents: true,
  agentId: true,
  users: true,
  userId: true,
  person: true,
}).meta({
  id: 'TokenRights',
  description: 'What a token or login allowed when a call was submitted with it. `person` marks a login.',
});
export type TokenRights = z.output<typeof TokenRights>;
