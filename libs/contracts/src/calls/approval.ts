import { z } from 'zod';
import { TrustOption } from '../policy/session-grants.js';

export const ApprovalScope = z.enum(['once', 'session-tool', 'session-args']).meta({ id: 'ApprovalScope' });
export type ApprovalScope = z.output<typeof ApprovalScope>;

/** One answer a person may give, and what to send for it. `session-args` takes the id of a trust option, too. */
export const ApprovalOption = z
  .object({
    id: z.enum(['allow_once', 'allow_always_tool', 'allow_always_args', 'reject_once', 'reject_always_tool']),
    label: z.string(),
    decision: z.enum(['allow', 'deny']),
    scope: ApprovalScope,
  })
  .meta({ id: 'ApprovalOption' });
export type ApprovalOption = z.output<typeof ApprovalOption>;

/** The question about a call, and who answered it. `digest` is of tool, version and canonical arguments: what the answer is bound to. */
export const Approval = z
  .object({
    reasons: z.array(z.string()),
    options: z.array(ApprovalOption),
    trustOptions: z.array(TrustOption),
    digest: z.string(),
    requestedAt: z.string(),
    expiresAt: z.string(),
    decided: z
      .object({
        decision: z.enum(['allow', 'deny']),
        scope: ApprovalScope,
        trustOption: z.string().optional(),
        reason: z.string().optional(),
        by: z.string(),
        at: z.string(),
      })
      .optional(),
  })
  .meta({ id: 'Approval' });
export type Approval = z.output<typeof Approval>;
