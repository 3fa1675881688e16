import type { CallEvent, CallEventOf, JsonValue } from '#contracts';
import { approvalDigest } from '#policy';
import { ofType } from './of-type.js';

export interface ApprovalCheck {
  /** Gateways and workers wrote the log: each digest is that of its arguments. Default: a test wrote it by itself. */
  readonly byApps?: boolean;
  /** Four-eyes setting of a tenant. Absent if unknown. */
  readonly fourEyes?: (tenantId: string) => boolean;
}

type Submitted = CallEventOf<'call.submitted'>;

/** I11: what a person was asked about runs only after a yes of another person, with the arguments that were allowed. */
export function checkApproval(callId: string, events: readonly CallEvent[], { byApps = false, fourEyes }: ApprovalCheck): string[] {
  const [submitted] = ofType(events, 'call.submitted');
  const [asked] = ofType(events, 'call.approval_requested');
  const decided = ofType(events, 'call.approval_decided');
  const started = ofType(events, 'call.start');
  const violations: string[] = [];
  if (submitted?.data.decision.effect === 'ask' && asked === undefined && started.length > 0)
    violations.push('policy asks, no approval was requested, and it started');
  if (asked !== undefined) {
    if (decided.length > 1) violations.push(`decided ${decided.length} times`);
    for (const { data } of decided)
      if (data.digest !== asked.data.digest) violations.push(`decided about digest ${data.digest}, asked about ${asked.data.digest}`);
    if (started.length > 0 && decided[0]?.data.decision !== 'allow') violations.push('started without a yes');
    if (submitted !== undefined && fourEyes?.(submitted.tenantid) === true) violations.push(...checkApprover(submitted, decided));
    if (submitted !== undefined && byApps) violations.push(...checkDigests(submitted, asked, decided, started));
  }
  return violations.map((text) => `I11 ${callId}: ${text}`);
}

/** Several keys of one person are not known here. */
function checkApprover(submitted: Submitted, decided: readonly CallEventOf<'call.approval_decided'>[]): string[] {
  const requesters = [submitted.actor, ...(submitted.data.requesters ?? [])];
  return decided
    .filter(({ actor, data }) => data.decision === 'allow' && requesters.includes(actor))
    .map(({ actor }) => `${actor} allowed a call of its own, where four eyes are asked for`);
}

/** Large and secret arguments are not in the log. Start repeats those of the submission, and none of an edited call. */
function checkDigests(
  submitted: Submitted,
  asked: CallEventOf<'call.approval_requested'>,
  decided: readonly CallEventOf<'call.approval_decided'>[],
  started: readonly CallEventOf<'call.start'>[],
): string[] {
  const { tool, toolVersion, argumentsDigest, arguments: args, argumentsRedacted } = submitted.data;
  if (submitted.erased === true) return [];
  const violations: string[] = [];
  const compare = (what: string, digest: string, value: JsonValue | undefined, redacted: true | undefined) => {
    if (value === undefined || redacted === true) return;
    const own = approvalDigest(tool, toolVersion, value);
    if (own !== digest) violations.push(`the digest of ${what} is ${own}, approved was ${digest}`);
  };
  if (asked.data.digest !== argumentsDigest)
    violations.push(`asked about digest ${asked.data.digest}, submitted were arguments of ${argumentsDigest}`);
  compare('the submitted arguments', argumentsDigest, args, argumentsRedacted);
  const edited = decided[0]?.data.edited;
  if (edited !== undefined) compare('the edited arguments', edited.argumentsDigest, edited.arguments, edited.argumentsRedacted);
  for (const { data } of started)
    if (edited === undefined) compare('the executed arguments', argumentsDigest, data.arguments, argumentsRedacted);
    else if (data.arguments !== undefined) violations.push('started with the submitted arguments, approved were edited ones');
  return violations;
}
