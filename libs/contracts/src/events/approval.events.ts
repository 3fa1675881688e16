import { z } from 'zod';
import { ApprovalOption, ApprovalScope, ArgumentChanges } from '../calls/approval.js';
import { Json } from '../values/json.js';
import { FileAccess } from '../policy/file-access.js';
import { TrustOption } from '../policy/session-grants.js';
import { ClaimCheck } from './claim-check.js';

export const ApprovalRequestedData = z
  .object({
    reasons: z.array(z.string()).describe('Why a person is asked.'),
    digest: z.string().describe('SHA-256 over tool, version and arguments: the answer is bound to them.'),
    expiresInMs: z.number().int().describe('Milliseconds after which the call ends as denied.'),
    options: z.array(ApprovalOption).optional().describe('The answers that this call can be given. Absent in events of older versions.'),
    trustOptions: z
      .array(TrustOption)
      .optional()
      .describe('What can be trusted for the rest of the session. Absent in events of older versions.'),
  })
  .describe('A person is asked about the call.');
export type ApprovalRequestedData = z.output<typeof ApprovalRequestedData>;

export const EditedArguments = z
  .object({
    arguments: Json.optional().describe('The edited arguments without secrets. Absent when they are large: then there is `argumentsRef`.'),
    argumentsRef: ClaimCheck.optional().describe(
      'Where large edited arguments are. Exactly one of `arguments` and `argumentsRef` is present.',
    ),
    argumentsRedacted: z
      .literal(true)
      .optional()
      .describe('The edited arguments held secrets, which only the worker gets. Absent otherwise.'),
    files: FileAccess.optional().describe(
      'Which files besides the workspace the worker opens for the edited call, and which it never opens. Absent for the workspace alone.',
    ),
    egress: z
      .string()
      .optional()
      .describe('SHA-256 of the egress rules of the agent when it was edited. Absent where those of the submission hold.'),
    ...ArgumentChanges,
  })
  .describe('The arguments that an approver gave in place of the submitted ones; these run.');
export type EditedArguments = z.output<typeof EditedArguments>;

export const ApprovalDecidedData = z
  .object({
    decision: z.enum(['allow', 'deny']).describe('What the person answered.'),
    scope: ApprovalScope.describe('How far the answer goes.'),
    trustOption: z.string().optional().describe('The id of the trust option that was granted to the session. Absent where none was.'),
    digest: z.string().describe('The digest of the question that was answered.'),
    reason: z.string().optional().describe('What the person wrote. Absent if nothing.'),
    edited: EditedArguments.optional().describe('The arguments that the person gave instead. Absent where nothing was edited.'),
  })
  .describe('A person answered.');
export type ApprovalDecidedData = z.output<typeof ApprovalDecidedData>;
