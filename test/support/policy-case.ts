import { isDeepStrictEqual } from 'node:util';
import { expect } from '@jest/globals';
import type { Call, Problem } from '#contracts';
import type { Agent } from './agent.js';
import { eventually } from './eventually.js';

/** How a call is meant to be judged: `runs` and completes, `asks` a person, or is `denied`; the text is among the reasons. */
export type Expected = { readonly runs: RegExp | string } | { readonly asks: RegExp | string } | { readonly denied: RegExp | string };

export interface PolicyCase {
  readonly tool: string;
  readonly args: Record<string, unknown>;
  readonly agentId?: string;
  readonly sessionId?: string;
}

/** The result of a submission: the call, and whether it was accepted, waits for approval, or was rejected. */
export interface PolicyOutcome {
  readonly status: number;
  readonly code: string | undefined;
  readonly call: Call;
  /** The open reasons, one a line: of the denials, or of what a person is asked for, or all. */
  readonly why: string;
  /** Text for the model. */
  readonly text: string;
}

/** Submits a call as an agent does, and waits for its end when it runs. */
export async function submitted(agent: Agent, { tool, args, ...parties }: PolicyCase): Promise<PolicyOutcome> {
  const answer = await agent.request<Call & Partial<Pick<Problem, 'callId' | 'code'>>>('POST', '/v1/calls', {
    tool,
    arguments: args,
    ...parties,
  });
  const call = await settled(agent, answer.body.callId ?? answer.body.id);
  const { effect, reasons } = call.decision;
  const open = reasons.filter((reason) => effect === 'allow' || (reason.effect === effect && reason.satisfiedBy === undefined));
  return { status: answer.status, code: answer.body.code, call, why: open.map(({ reason }) => reason).join('\n'), text: textOf(call) };
}

/** The call when it has ended, or waits for a person. */
function settled(agent: Agent, id: string): Promise<Call> {
  return eventually(async () => {
    const { body } = await agent.get(`/v1/calls/${id}`);
    return body.status === 'ended' || body.status === 'waiting_approval' ? body : undefined;
  }, `call ${id} to end or to wait for a person`);
}

/** Submits the call and expects of the answer, the call and what the model reads what a verdict means. */
export async function expectDecision(agent: Agent, judged: PolicyCase, expected: Expected): Promise<PolicyOutcome> {
  const verdict = await submitted(agent, judged);
  const { status, code, call, why, text } = verdict;
  const got = { status, code, effect: call.decision.effect, outcome: call.outcome ?? call.status };
  if ('runs' in expected) {
    expectThat(verdict, got, { status: 202, code: undefined, effect: 'allow', outcome: 'completed' });
    expect(text).toMatch(expected.runs);
  } else if ('asks' in expected) {
    expectThat(verdict, got, { status: 202, code: undefined, effect: 'ask', outcome: 'waiting_approval' });
    expect(why).toMatch(expected.asks);
    expect(call.approval?.reasons.join('\n')).toMatch(expected.asks);
  } else {
    expectThat(verdict, got, { status: 403, code: 'policy_denied', effect: 'deny', outcome: 'denied' });
    expect([call.attempt, why]).toEqual([0, expect.stringMatching(expected.denied)]);
    expect(text).toMatch(expected.denied);
  }
  return verdict;
}

/** A failure shows the reasons, too. */
function expectThat({ why, text }: PolicyOutcome, got: object, wanted: object): void {
  expect(isDeepStrictEqual(got, wanted) ? wanted : { ...got, why, text }).toEqual(wanted);
}

export function textOf({ result }: Pick<Call, 'result'>): string {
  return (result?.content ?? []).map((item) => (item.type === 'text' ? item.text : JSON.stringify(item))).join('\n');
}

/** A text as a pattern that it fits and nothing else does. */
export function literally(text: string): RegExp {
  return new RegExp(text.replaceAll(/[$()*+.?[\\\]^{|}/]/g, '\\$&'));
}
