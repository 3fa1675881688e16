import { z } from 'zod';
import { ApprovalScope } from '../calls/approval.js';
import { Json } from '../values/json.js';
import { Priority } from '../calls/call.js';
import { LIMITS } from '../values/limits.js';
import { CallId, Label } from '../values/names.js';
import { Dialect } from '../values/dialect.js';
import { RetryPolicy } from '../tools/tool.js';
import { SUBMIT_CALL_EXAMPLES, CANCEL_CALL_EXAMPLES, DECISION_EXAMPLES, INPUT_EXAMPLES, REPLAY_EXAMPLES } from '../values/examples.js';

/** Body of `POST /v1/calls`. `arguments` is an object, or its JSON string (as models stream it). */
export const SubmitCallBody = z
  .strictObject({
    tool: z.string().min(1).max(256).describe('Name or alias of the tool, as `GET /v1/tools` lists it.'),
    arguments: z
      .union([z.record(z.string(), Json), z.string()])
      .default({})
      .describe(
        'An object, or the same as a JSON text, as models stream it. A number with more digits than a double holds, such as a 64-bit id, is never rounded: it is kept as a text of its digits, which may be sent in its place.',
      ),
    sessionId: Label.optional().describe(
      'The session that the call belongs to: its files, posture, grants and steering. Without one the call has a workspace of its own.',
    ),
    agentId: Label.optional().describe(
      'The agent that makes the call: its policy, posture, hooks and limits hold. Not said: that of the key, if it has one. A name that the key may not act for is refused with 403 `forbidden`.',
    ),
    userId: Label.optional().describe(
      'The user for whom the call is made: whose notes and facts its tool reads and writes. Not said: that of the key, else that of the session if the key may act for it. A user that the key may not act for is refused with 403 `forbidden`, as is one that is not the user of the session.',
    ),
    toolCallId: z
      .string()
      .min(1)
      .max(256)
      .optional()
      .describe(`The id from the model's answer. In one session the same id runs once: a repetition is answered with the first call.`),
    parentCallId: CallId.optional().describe(
      'The running call that makes this one, as a sub-agent does. Session, agent and user are those of the parent, so the key must be one that may act for them; no child has more time than its parent has left, and a cancel of the parent reaches it.',
    ),
    dialect: Dialect.optional().describe(
      'Whose names and arguments `tool` and `arguments` are. Not said: that of the session, else that of the key, else `core`.',
    ),
    priority: Priority.default('normal').describe('Which of the waiting calls of a pool run first.'),
    timeouts: z
      .strictObject({
        queueMs: z
          .number()
          .int()
          .min(1)
          .max(LIMITS.queueMs)
          .optional()
          .describe('Longest wait for a worker in milliseconds: 1 to 86,400,000.'),
        runMs: z.number().int().min(1).max(LIMITS.runMs).optional().describe('Longest run of one attempt in milliseconds: 1 to 600,000.'),
        totalMs: z
          .number()
          .int()
          .min(1)
          .max(LIMITS.totalMs)
          .optional()
          .describe('Longest time from submission to End in milliseconds: 1 to 604,800,000.'),
      })
      .default({})
      .describe('Time limits. What is not said has the default of the tool; a child has no more than its parent has left.'),
    retry: RetryPolicy.partial()
      .strict()
      .optional()
      .describe(
        'How often and when a failed attempt is repeated. What is not said is that of the tool; a tool whose effect is `once` is never repeated after a Start.',
      ),
    labels: z
      .record(z.string().min(1).max(64), z.string().max(LIMITS.labelBytes))
      .refine((labels) => Object.keys(labels).length <= LIMITS.labels, `expected at most ${LIMITS.labels} labels`)
      .meta({ maxProperties: LIMITS.labels })
      .default({})
      .describe('Own names and values, for search: at most 32, names of 1 to 64 characters, values of at most 256.'),
  })
  .meta({ id: 'SubmitCall', description: 'One call to submit.', examples: SUBMIT_CALL_EXAMPLES });
export type SubmitCallBody = z.output<typeof SubmitCallBody>;

/** `Idempotency-Key` as a header or a frame field: 1 to 255 visible ASCII characters. */
export const IdempotencyKey = z.string().regex(/^[\x21-\x7e]{1,255}$/, 'expected 1 to 255 visible ASCII characters');

export const CancelBody = z
  .strictObject({
    reason: z.string().max(1024).optional().describe('Why, for people and the model: at most 1,024 characters. Stored without secrets.'),
    graceMs: z
      .number()
      .int()
      .min(0)
      .max(LIMITS.cancelGraceMs)
      .default(5000)
      .describe('Milliseconds that the tool has to stop by itself before it is killed: 0 to 60,000.'),
  })
  .meta({ id: 'CancelCall', description: 'How to cancel a call.', examples: CANCEL_CALL_EXAMPLES });
export type CancelBody = z.output<typeof CancelBody>;

export const DecisionBody = z
  .strictObject({
    decision: z.enum(['allow', 'deny']).describe('The answer.'),
    scope: ApprovalScope.default('once').describe(
      'How far it goes: this call, the tool for the rest of the session, or what the trust option names.',
    ),
    trustOption: z
      .string()
      .min(1)
      .max(64)
      .optional()
      .describe("With the scope `session-args`: the id of one of the question's trust options. Not said: the first of them."),
    reason: z.string().max(1024).optional().describe('Why, for people and the model: at most 1,024 characters. Stored without secrets.'),
    digest: z
      .string()
      .min(1)
      .max(128)
      .optional()
      .describe(
        '`approval.digest` of the question as the person saw it: an answer to another question is refused with `conflict`. Not said: the answer is for the question that the call asks now.',
      ),
    arguments: z
      .record(z.string(), Json)
      .optional()
      .describe(
        'With `allow` and the scope `once`: the call runs with these arguments instead. They are validated and evaluated as if the submitter had sent them; when they are refused, the call goes on waiting.',
      ),
  })
  .meta({ id: 'DecideApproval', description: 'The answer of a person to the question about a call.', examples: DECISION_EXAMPLES });
export type DecisionBody = z.output<typeof DecisionBody>;

/** Body of `POST /v1/calls/:id/input`: the requested value, or that it is declined. */
export const InputBody = z
  .strictObject({
    value: Json.optional().describe(
      'The value. It has to fit `waiting.input.inputSchema` of the call, and may have 65,536 bytes as JSON. Required unless `decline` is set.',
    ),
    decline: z
      .literal(true)
      .optional()
      .describe('Instead of a value: the question is declined. Only where `waiting.input.declinable` is set; else cancel the call.'),
    attempt: z
      .number()
      .int()
      .min(1)
      .optional()
      .describe('`waiting.input.attempt` of the question that is answered: a later question is then not answered by mistake.'),
  })
  .meta({ id: 'GiveInput', description: 'The answer to the question of a tool.', examples: INPUT_EXAMPLES });
export type InputBody = z.output<typeof InputBody>;

/** Body of `POST /v1/calls/:id/replay`: the same arguments unless new ones are given. */
export const ReplayBody = z
  .strictObject({
    arguments: z
      .record(z.string(), Json)
      .optional()
      .describe('New arguments. Not said: those of the first run; a call whose arguments held secrets needs new ones.'),
  })
  .meta({ id: 'ReplayCall', description: 'How to run a call again.', examples: REPLAY_EXAMPLES });
export type ReplayBody = z.output<typeof ReplayBody>;
