import { ProblemError, type Call, type DecisionBody } from '#contracts';

/** @throws ProblemError where the person saw another question than the one that the call asks now */
export function assertQuestionSeen({ id, approval }: Call, { digest }: DecisionBody): void {
  if (digest === undefined || digest === approval?.digest) return;
  const asked = approval === undefined ? 'it asks nothing' : `it asks about ${approval.digest}`;
  throw new ProblemError('conflict', `The answer is for the question with the digest ${digest}, but ${asked}: read the call again`, {
    callId: id,
  });
}

/** The arguments to run instead of the submitted ones. @throws ProblemError where they do not go with the decision */
export function editOf({ id }: Call, { decision, scope, arguments: given }: DecisionBody): DecisionBody['arguments'] {
  if (given === undefined || (decision === 'allow' && scope === 'once')) return given;
  const message = `Edited arguments go with the decision allow and the scope once; received ${decision} and ${scope}`;
  throw new ProblemError('invalid_request', message, { callId: id, errors: [{ pointer: '/arguments', message }] });
}
