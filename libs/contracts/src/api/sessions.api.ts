import { z } from 'zod';
import { SessionHooks } from '../hooks/hook.js';
import { ToolPattern } from '../policy/policy-config.js';
import { SessionGrants } from '../policy/session-grants.js';
import { BatchStrategy } from './batches.api.js';

export const Autonomy = z.enum(['read_only', 'supervised', 'full']).meta({ id: 'Autonomy' });
export type Autonomy = z.output<typeof Autonomy>;

export const PermissionMode = z
  .enum(['read-only', 'workspace-write', 'danger-full-access', 'prompt', 'allow'])
  .meta({ id: 'PermissionMode' });
export type PermissionMode = z.output<typeof PermissionMode>;

/** How freely the tools of a session may act. `GET` and `PUT /v1/sessions/:id`. */
export const Posture = z.strictObject({ autonomy: Autonomy, permissionMode: PermissionMode }).meta({ id: 'Posture' });
export type Posture = z.output<typeof Posture>;

/** The default posture: work in the workspace runs, every privileged call asks a person. */
export const DEFAULT_POSTURE: Posture = { autonomy: 'supervised', permissionMode: 'workspace-write' };

const ToolPatterns = z.array(ToolPattern).max(200);

/**
 * What holds for the calls of one session. `tools` narrows what its agents have, `allowedTools` adds to what runs without
 * asking, `grants` is what people decided, `strategy` is that of batches which name none, `hooks` run after those of the
 * config file. It ends with DELETE, or 30 days after its last use.
 */
export const Session = z
  .object({
    id: z.string(),
    tenantId: z.string(),
    posture: Posture,
    tools: ToolPatterns.optional(),
    allowedTools: ToolPatterns.optional(),
    grants: SessionGrants,
    strategy: BatchStrategy.optional(),
    hooks: SessionHooks.optional(),
  })
  .meta({ id: 'Session' });
export type Session = z.output<typeof Session>;

/** What is not given stays as it is; `null` takes a list or the strategy away. `grants` are replaced as a whole. */
export const PutSessionBody = z
  .strictObject({
    posture: Posture.partial().optional(),
    tools: ToolPatterns.nullable().optional(),
    allowedTools: ToolPatterns.nullable().optional(),
    grants: SessionGrants.optional(),
    strategy: BatchStrategy.nullable().optional(),
    hooks: SessionHooks.nullable().optional(),
  })
  .meta({ id: 'PutSession' });
export type PutSessionBody = z.output<typeof PutSessionBody>;
