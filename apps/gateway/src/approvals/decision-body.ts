import { ProblemError, type Call, type DecisionBody } from '#contracts';

/** @throws ProblemError where the person saw another question than the one that the call asks now */
export function assertQuestionSeen({ id, approval }: Call, { digest }: DecisionBody): void {
  if (digest === undefined || digest === approval?.digest) return;
  const current = approval === undefined ? 'the call waits for no approval' : `the current one is ${approval.digest}`;
  throw new ProblemError('conflict', `The decision is for the approval request ${digest}, but ${current}: read the call again`, {
    callId: id,
  });
}

/** The arguments to run instead of the submitted ones. @throws ProblemError where they do not go with the decision */
export function editOf({ id }: Call, { decision, scope, arguments: given }: DecisionBody): DecisionBody['arguments'] {
  if (given === undefined || (decision === 'allow' && scope === 'once')) return given;
  const message = `Edited arguments go with the decision allow and the scope once; received ${decision} and ${scope}`;
  throw new ProblemError('invalid_request', message, { callId: id, errors: [{ pointer: '/arguments', message }] });
}
