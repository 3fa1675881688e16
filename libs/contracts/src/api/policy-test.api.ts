import { z } from 'zod';
import { Decision, DecisionReason } from '../calls/call.js';
import { Json } from '../values/json.js';
import { CallFilter } from './call-list.api.js';
import { BODY, KEY, type Route } from './route.api.js';

/** Parts of a config file that affect decisions; others are rejected, so that no key is ever sent. */
export const POLICY_PARTS = ['policy', 'defaults', 'agents', 'tenants'] as const;
const MOST_CALLS = 500;

export const PolicyTestBody = z
  .strictObject({
    config: z
      .partialRecord(z.enum(POLICY_PARTS), Json)
      .describe(
        '`policy`, `defaults`, `agents` and `tenants` of a config file as it would be. Of `tenants` only `policy`, `posture` and `agents` of your own count.',
      ),
    filter: CallFilter.prefault({}).describe('Which calls.'),
    limit: z.int().min(1).max(MOST_CALLS).default(100).describe('The newest calls that fit, 1 to 500.'),
  })
  .meta({ id: 'PolicyTestBody', examples: [{ config: { policy: { exclude: ['shell'] } }, filter: { tool: ['shell'] }, limit: 100 }] });
export type PolicyTestBody = z.output<typeof PolicyTestBody>;

const Verdict = z
  .object({
    effect: Decision.shape.effect.describe('What all rules together mean.'),
    reasons: z.array(DecisionReason).describe('The rules that decided: those with this effect. None for `allow`.'),
  })
  .meta({ id: 'Verdict', description: 'What policy says about a call, and the rules that decided.' });
export type Verdict = z.output<typeof Verdict>;

const ChangedVerdict = z.object({
  callId: z.string().describe('The call.'),
  tool: z.string().describe('Its tool.'),
  agentId: z.string().optional().describe('Its agent. Absent without one.'),
  sessionId: z.string().optional().describe('Its session. Absent without one.'),
  preview: z.string().describe('The beginning of its arguments as JSON text, without secrets.'),
  before: Verdict.describe('By the configuration that is in force now.'),
  after: Verdict.describe('By the one that was sent.'),
});

export const PolicyTestResult = z
  .object({
    tested: z.number().int().describe('Calls that were evaluated by both.'),
    changed: z.array(ChangedVerdict).describe('Those whose verdict would be another, newest first.'),
    skipped: z
      .array(
        z.object({
          callId: z.string().describe('The call.'),
          reason: z.string().describe('Why it could not be evaluated.'),
        }),
      )
      .describe('Calls that could not be evaluated, such as those of a key that is gone.'),
  })
  .meta({ id: 'PolicyTestResult', description: 'Which verdicts a configuration would change.' });
export type PolicyTestResult = z.output<typeof PolicyTestResult>;

export const POLICY_TEST_ROUTES = {
  testPolicy: {
    method: 'post',
    path: '/v1/policy:test',
    idempotent: true,
    tag: 'operations',
    scope: 'admin',
    summary: 'Evaluate recorded calls by another configuration; nothing runs, nothing changes',
    description:
      'Each call is evaluated twice as if its key submitted it now: by the configuration in force and by the one that was sent. Sessions ' +
      'count as they are now, hooks and limits are not asked, and arguments count as they are shown, without secrets. Calls are skipped ' +
      'that are too long for the expressions of `config`, or not evaluated within 5 s. A tenant runs one test at a time.',
    body: PolicyTestBody,
    responses: { 200: { description: 'The verdicts that differ.', schema: PolicyTestResult } },
    problems: [...BODY, ...KEY, 'history_unavailable'],
  },
} as const satisfies Record<string, Route>;
