import { z } from 'zod';
import { TokenRights } from '../values/principal.js';
import { Json } from '../values/json.js';
import { Decision, Priority, Timeouts } from '../calls/call.js';
import { FileAccess } from '../policy/file-access.js';
import { PolicyProfile } from '../policy/profile.js';
import { Dialect, DialectHints } from '../values/dialect.js';
import { Pool, RetryPolicy, ToolEffect, ToolTier } from '../tools/tool.js';
import { ClaimCheck } from './claim-check.js';

/** Most resources of a sub-agent. */
export const AgentBudget = z.object({
  depth: z.number().int().describe('How many levels of sub-agents there may be, itself included.'),
  tokens: z.number().int().describe('Tokens of all models, read and written.'),
  modelMs: z.number().int().describe('Milliseconds of waiting for models.'),
  calls: z.number().int().describe('Calls.'),
});
export type AgentBudget = z.output<typeof AgentBudget>;

/** Facts of a call that are fixed at submission. Has exactly one of `arguments` and `argumentsRef`. */
export const SubmittedData = z
  .object({
    tool: z.string().describe('Canonical name of the tool; for one that does not exist, the name that was asked for.'),
    arguments: Json.optional().describe('The arguments without secrets. Absent when they are large: then there is `argumentsRef`.'),
    argumentsRef: ClaimCheck.optional().describe('Where large arguments are. Exactly one of `arguments` and `argumentsRef` is present.'),
    source: z.string().describe('Where the tool comes from, such as `builtin`.'),
    toolVersion: z.string().describe('Digest of name, schema and facts of the tool.'),
    argumentsDigest: z.string().describe('SHA-256 over tool, version and arguments, which an approval is bound to.'),
    tier: ToolTier.describe('What the tool may do at most.'),
    effect: ToolEffect.describe('What running the tool twice does.'),
    capabilityProfile: z.string().optional().describe('What the tool may touch, as it was evaluated. Absent when that is nothing.'),
    files: FileAccess.optional().describe(
      'Which files besides the workspace the worker opens, and which it never opens. Absent for the workspace alone.',
    ),
    egress: z
      .string()
      .optional()
      .describe('SHA-256 of the egress rules of the agent, as they are stored beside the log. Absent for a tool that takes no URL.'),
    host: z
      .string()
      .optional()
      .describe(
        'The host of `remoteHosts` that has the files and commands of the call: a worker that does not know it refuses them. Absent where they are on the worker, or only the worker knows the host.',
      ),
    pool: Pool.describe('The pool whose workers may run the call.'),
    queue: z
      .string()
      .optional()
      .describe('The queue of its jobs, where that is not the queue of the pool: its source has workers of its own.'),
    priority: Priority.describe('Which of the waiting calls of a pool run first.'),
    timeouts: Timeouts.describe('The time limits of the call.'),
    retry: RetryPolicy.describe('How often and when a failed attempt is repeated.'),
    decision: Decision.describe('What policy, limits and hooks said.'),
    stageMs: z
      .record(z.string(), z.number().int())
      .optional()
      .describe('Milliseconds of each stage before `accept` that took one or more. Absent where none did.'),
    acceptAt: z
      .string()
      .optional()
      .describe(
        'When the stage `accept` began to write the call, by the clock of the gateway; the time of the event is by that of Redis. Absent in events of older versions, and of calls that a gateway ends unrun.',
      ),
    labels: z.record(z.string(), z.string()).describe('Names and values of the submission.'),
    requestedTool: z
      .string()
      .optional()
      .describe('The name that the model used, where it is an alias. Absent where it is the canonical one.'),
    userId: z.string().optional().describe('The user for whom the call is made. Absent without one.'),
    toolCallId: z.string().optional().describe('The id that the model gave to its tool call. Absent if the submission named none.'),
    purpose: z.string().optional().describe('What the model wrote that the call is for. Absent if nothing.'),
    batchId: z.string().optional().describe('The batch that the call belongs to. Absent without one.'),
    parentCallId: z.string().optional().describe('The call that made this one. Absent without a parent.'),
    rootCallId: z.string().optional().describe('The call at the top of the tree. Absent without a parent.'),
    depth: z.number().int().optional().describe('How far the call is below the top of the tree. Absent without a parent.'),
    agentsAbove: z.number().int().optional().describe('How many of the calls above this one are sub-agents. Absent for none.'),
    agentBudget: AgentBudget.optional().describe('What the sub-agent above leaves to this one. Absent for all other calls.'),
    startedBy: z
      .string()
      .optional()
      .describe('The call that started this one as a background run, with the same arguments. Absent for all other calls.'),
    replayOf: z.string().optional().describe('The call that this one runs again. Absent for the first run.'),
    scheduleId: z.string().optional().describe('The schedule that submitted the call. Absent for all other calls.'),
    requesters: z
      .array(z.string())
      .optional()
      .describe(
        'Actors that submitted the calls that this one replays, back to the first: with four eyes none of them may allow it. Absent for the first run.',
      ),
    submitter: TokenRights.optional().describe(
      'What the token of the submitter allowed: an approval is evaluated by it, since tokens end soon. Absent for an API key.',
    ),
    sampling: z
      .literal(true)
      .optional()
      .describe('The MCP client that made the call offers its model: an MCP server that runs the call may ask it. Absent without.'),
    idempotencyKey: z.string().optional().describe('The Idempotency-Key of the submission, without secrets. Absent if there was none.'),
    argumentsRedacted: z
      .literal(true)
      .optional()
      .describe(
        'The arguments held secrets, or hidden characters that a person was asked about: these are the ones to be shown. The worker gets those that were submitted, beside the log until End.',
      ),
    safety: z.string().optional().describe('Digest of the safety settings in force. Absent for the defaults.'),
    profile: PolicyProfile.optional().describe('The agent whose texts the model is answered in. Absent for those of Toolyard.'),
    dialect: Dialect.exclude(['core']).optional().describe('Whose tool name the model used, and whose result it gets. Absent for our own.'),
    dialectHints: DialectHints.optional().describe(
      'What the arguments of the dialect say about the wording of its result. Absent if nothing.',
    ),
    resultBytes: z.number().int().optional().describe('Text above this size is cut for the model. Absent for the default.'),
    resultTailBytes: z.number().int().optional().describe("Of which so much is the end of a command's output. Absent for the default."),
    hooks: z.string().optional().describe('SHA-256 of the hooks that the worker runs. Absent without any.'),
    hookFeedback: z
      .string()
      .optional()
      .describe('What hooks before the call said, for the model to read below the output. Absent if nothing.'),
    sessionEpoch: z
      .number()
      .int()
      .optional()
      .describe(
        'How often the session had been deleted when the call was submitted: grants go to that life of the session only. Absent = 0.',
      ),
  })
  .describe('The call was stored; everything about it that is fixed. From here on it survives a crash.');
export type SubmittedData = z.output<typeof SubmittedData>;
