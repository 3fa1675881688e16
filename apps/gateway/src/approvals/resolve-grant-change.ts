import { ProblemError, type Call, type DecisionBody, type GrantChange, type TrustOption } from '#contracts';
import { alwaysAllow, neverAllow } from '#policy';

/**
 * Grants that a decision adds to the call's session; undefined for `once`. Throws `invalid_request` with the available choices
 * if nothing can be granted: no session, no such trust option, or commands that must never run.
 */
export function resolveGrantChange(call: Call, { decision, scope, trustOption }: DecisionBody): GrantChange | undefined {
  if (trustOption !== undefined && scope !== 'session-args') throw notGrantable(call, 'A trust option goes with the scope session-args');
  if (scope === 'once') return undefined;
  if (call.sessionId === undefined) throw notGrantable(call, `The scope ${scope} needs a session, and the call has none: decide once`);
  if (scope === 'session-tool') return grantOf(call, decision);
  const chosen = chosenOption(call, trustOption).grants;
  return decision === 'allow' ? chosen : toDenial(call, chosen);
}

function grantOf({ tool: name, source }: Call, decision: DecisionBody['decision']): GrantChange {
  return decision === 'allow' ? alwaysAllow({ name, source }) : neverAllow({ name, source });
}

function chosenOption(call: Call, id: string | undefined): TrustOption {
  const options = call.approval?.trustOptions ?? [];
  const chosen = id === undefined ? options[0] : options.find((option) => option.id === id);
  if (chosen !== undefined) return chosen;
  const offered = options.map((option) => option.id).join(', ');
  throw notGrantable(
    call,
    offered === ''
      ? 'The call offers no trust options: decide once, or with the scope session-tool'
      : `Expected one of the trust options ${offered}`,
  );
}

function toDenial(call: Call, { allowedPaths }: GrantChange): GrantChange {
  if (allowedPaths !== undefined) return { deniedPaths: allowedPaths };
  throw notGrantable(call, 'Commands cannot be denied by their arguments: deny once, or with the scope session-tool');
}

function notGrantable({ id }: Call, detail: string): ProblemError {
  return new ProblemError('invalid_request', detail, { callId: id });
}
