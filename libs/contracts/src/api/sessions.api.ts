import { z } from 'zod';
import { JsonSchema, type ToolTier } from '../tools/tool.js';
import { SessionHooks } from '../hooks/hook.js';
import { ToolPattern } from '../policy/policy-config.js';
import { Dialect } from '../values/dialect.js';
import { SessionGrants } from '../policy/session-grants.js';
import { Label } from '../values/names.js';
import { BatchStrategy } from '../policy/batch-strategy.js';
import { SESSION_DATA } from '../values/session-data.js';
import { PUT_SESSION_EXAMPLES, SESSION_EXAMPLES } from '../values/examples.js';

export const Autonomy = z.enum(['read_only', 'supervised', 'full']).meta({
  id: 'Autonomy',
  description:
    'How far an agent may act without a person. `read_only`: no tool that acts; `supervised`: a person is asked where the mode or a rule says so; `full`: as the permission mode says.',
});
export type Autonomy = z.output<typeof Autonomy>;

export const PermissionMode = z.enum(['read-only', 'workspace-write', 'danger-full-access', 'prompt', 'allow']).meta({
  id: 'PermissionMode',
  description:
    'What runs, by tier of the tool. `read-only`: read-only tools; `workspace-write`: also those with side effects, and a person is asked before privileged ones; `danger-full-access`: all, in supervised sessions a person is asked before privileged ones; `prompt`: a person is asked before all that act; `allow`: all.',
});
export type PermissionMode = z.output<typeof PermissionMode>;

/** Permission mode that lets a tier run without a person. */
export const REQUIRED_MODE: Readonly<Record<ToolTier, PermissionMode>> = {
  read_only: 'read-only',
  side_effecting: 'workspace-write',
  privileged: 'danger-full-access',
};

/** Posture of a session's tools. `GET` and `PUT /v1/sessions/:id`. */
export const Posture = z
  .strictObject({
    autonomy: Autonomy.describe('How far the agent may act without a person.'),
    permissionMode: PermissionMode.describe('What the mode answers for each tier of tools.'),
  })
  .meta({ id: 'Posture', description: 'How freely the tools of a session may act.' });
export type Posture = z.output<typeof Posture>;

/** Default posture: work in the workspace runs, every privileged call needs approval. */
export const DEFAULT_POSTURE: Posture = { autonomy: 'supervised', permissionMode: 'workspace-write' };

const OUTPUT_SCHEMA_CHARACTERS = 16_384;
const ToolPatterns = z.array(ToolPattern).max(200);

export const Session = z
  .object({
    id: z.string().describe('The name of the session.'),
    tenantId: z.string().describe('The owner of the session.'),
    posture: Posture.describe('How freely its tools may act.'),
    tools: ToolPatterns.optional().describe('Patterns of the tools that its agents have here. Absent = all that they have elsewhere.'),
    allowedTools: ToolPatterns.optional().describe('Patterns of tools that run without asking. Absent = none besides those of the policy.'),
    grants: SessionGrants.describe('What people decided for the rest of the session.'),
    strategy: BatchStrategy.optional().describe(
      `In which order the calls of a batch run that names no strategy. Absent = that of the agent's policy.`,
    ),
    dialect: Dialect.optional().describe('Whose tool names and arguments its calls use where they do not say. Absent = that of the key.'),
    hooks: SessionHooks.optional().describe('Hooks that run after those of the config file. Absent = none.'),
    userId: Label.optional().describe(
      'Whose session it is: calls that name no user are of this one, where their key may act for it. Absent = of none.',
    ),
    outputSchema: JsonSchema.optional().describe('JSON Schema that `structured_output` has to fit. Absent = any object.'),
    ...SESSION_DATA,
  })
  .meta({
    id: 'Session',
    description: 'What holds for the calls of one session. It ends with DELETE, or 30 days after its last use.',
    examples: SESSION_EXAMPLES,
  });
export type Session = z.output<typeof Session>;

/** Body of `PUT /v1/sessions/:id`. Absent fields are unchanged; `null` removes a list or the strategy. `grants` are replaced as a whole. */
export const PutSessionBody = z
  .strictObject({
    posture: Posture.partial().optional().describe('The parts that are given replace those of the session.'),
    tools: ToolPatterns.nullable().optional().describe('Patterns of the tools that its agents have here; `null` for all. At most 200.'),
    allowedTools: ToolPatterns.nullable().optional().describe('Patterns of tools that run without asking; `null` for none. At most 200.'),
    grants: SessionGrants.optional().describe('Replaces all grants of the session.'),
    strategy: BatchStrategy.nullable()
      .optional()
      .describe('In which order the calls of a batch run that names no strategy; `null` for that of the policy.'),
    dialect: Dialect.nullable()
      .optional()
      .describe('Whose tool names and arguments its calls use where they do not say; `null` for that of the key.'),
    hooks: SessionHooks.nullable().optional().describe('Hooks that run after those of the config file; `null` for none. At most 20.'),
    userId: Label.nullable()
      .optional()
      .describe(
        'Whose session it is; `null` for none. Calls of other users are refused in it. It gives no key a user that it may not act for.',
      ),
    outputSchema: JsonSchema.nullable()
      .optional()
      .refine((schema) => JSON.stringify(schema ?? null).length <= OUTPUT_SCHEMA_CHARACTERS, 'expected at most 16,384 characters')
      .describe('JSON Schema that `structured_output` has to fit, at most 16,384 characters; `null` for any object.'),
  })
  .meta({
    id: 'PutSession',
    description: 'What to change of a session. What is not given stays as it is.',
    examples: PUT_SESSION_EXAMPLES,
  });
export type PutSessionBody = z.output<typeof PutSessionBody>;
