import { ProblemError } from '#contracts';

export function changedConcurrently(callId: string): ProblemError {
  const why = 'The call was decided, cancelled or expired meanwhile, or its tool has changed since the question was asked';
  return new ProblemError('conflict', why, { callId });
}
