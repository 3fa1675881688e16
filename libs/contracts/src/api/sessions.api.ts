import { z } from 'zod';

export const Autonomy = z.enum(['read_only', 'supervised', 'full']).meta({ id: 'Autonomy' });
export type Autonomy = z.output<typeof Autonomy>;

export const PermissionMode = z.enum(['read-only', 'workspace-write', 'danger-full-access', 'prompt', 'allow']).meta({ id: 'PermissionMode' });
export type PermissionMode = z.output<typeof PermissionMode>;

/** How freely the tools of a session may act. `GET` and `PUT /v1/sessions/:id`. */
export const Posture = z.strictObject({ autonomy: Autonomy, permissionMode: PermissionMode }).meta({ id: 'Posture' });
export type Posture = z.output<typeof Posture>;

export const Session = z.object({ id: z.string(), tenantId: z.string(), posture: Posture }).meta({ id: 'Session' });
export type Session = z.output<typeof Session>;

export const PutSessionBody = z.strictObject({ posture: Posture.partial() }).meta({ id: 'PutSession' });
export type PutSessionBody = z.output<typeof PutSessionBody>;
