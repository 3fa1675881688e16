import { z } from 'zod';
import { TrustOption } from '../policy/session-grants.js';

export const ApprovalScope = z.enum(['once', 'session-tool', 'session-args']).meta({
  id: 'ApprovalScope',
  description:
    'How far an answer goes: `once` this call, `session-tool` the tool for the rest of the session, `session-args` what a trust option names.',
});
export type ApprovalScope = z.output<typeof ApprovalScope>;

export const ApprovalOption = z
  .object({
    id: z
      .enum(['allow_once', 'allow_always_tool', 'allow_always_args', 'reject_once', 'reject_always_tool'])
      .describe('Names the option for a program that shows it.'),
    label: z.string().describe('What to write on its button.'),
    decision: z.enum(['allow', 'deny']).describe('The field `decision` of the answer.'),
    scope: ApprovalScope.describe('The field `scope` of the answer. With `session-args` the answer also names one of the trust options.'),
  })
  .meta({ id: 'ApprovalOption', description: 'One answer that a person may give, and what to send for it.' });
export type ApprovalOption = z.output<typeof ApprovalOption>;

export const ArgumentChange = z
  .object({
    pointer: z.string().describe('Place of the argument within the arguments (RFC 6901).'),
    before: z
      .string()
      .optional()
      .describe('JSON text without secrets before the edit, cut at 120 characters. Absent for an argument that was added.'),
    after: z
      .string()
      .optional()
      .describe('JSON text without secrets after the edit, cut at 120 characters. Absent for an argument that was removed.'),
  })
  .meta({ id: 'ArgumentChange', description: 'One argument that an approver changed.' });
export type ArgumentChange = z.output<typeof ArgumentChange>;

/** Changes of the arguments by an approver. */
export const ArgumentChanges = {
  argumentsDigest: z.string().describe('SHA-256 over tool, version and the edited arguments: nothing else runs.'),
  changes: z
    .array(ArgumentChange)
    .describe('What differs from the arguments that were asked about: the first of the changes when there are many.'),
  moreChanges: z.number().int().optional().describe('How many changes are not listed. Absent when all are.'),
};

export const Approval = z
  .object({
    reasons: z.array(z.string()).describe('Why a person is asked: the reasons of each rule that asked.'),
    options: z.array(ApprovalOption).describe('The answers that this call can be given.'),
    trustOptions: z
      .array(TrustOption)
      .describe('What can be trusted for the rest of the session. Empty without a session, and for a dangerous command.'),
    digest: z.string().describe('SHA-256 over tool, version and arguments: the answer is bound to them.'),
    requestedAt: z.string().describe('When the question was asked: RFC 3339, UTC.'),
    expiresAt: z.string().describe('Without an answer by then, the call ends as denied: RFC 3339, UTC.'),
    decided: z
      .object({
        decision: z.enum(['allow', 'deny']).describe('What the person answered.'),
        scope: ApprovalScope.describe('How far the answer goes.'),
        trustOption: z.string().optional().describe('The id of the trust option that was granted to the session. Absent where none was.'),
        reason: z.string().optional().describe('What the person wrote. Absent if nothing.'),
        by: z.string().describe('Who answered, such as `apikey:<keyId>`.'),
        byName: z
          .string()
          .optional()
          .describe('The person who answered, such as `Ada Example <ada@example.com>`. Absent unless a person has signed in.'),
        at: z.string().describe('When the answer was stored: RFC 3339, UTC.'),
        edited: z
          .object(ArgumentChanges)
          .optional()
          .describe('What the person changed of the arguments; `arguments` of the call are the edited ones. Absent where nothing was.'),
      })
      .optional()
      .describe('The answer. Absent while the call waits and where it ended without one.'),
  })
  .meta({ id: 'Approval', description: 'The question to a person about a call, and the answer.' });
export type Approval = z.output<typeof Approval>;
