import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ApprovalOption, Call, TrustOption } from '#contracts';
import { notifyError, notifySuccess } from '../components/notify.js';
import { useToolyard } from '../stream/toolyard.js';

export interface Answer {
  readonly call: Call;
  readonly option: Pick<ApprovalOption, 'decision' | 'scope'>;
  readonly trust?: TrustOption | undefined;
  /** What the person wrote; empty for nothing. */
  readonly reason: string;
}

/** Sends the answer of a person about a call. */
export function useAnswer(onAnswered?: () => void) {
  const { client } = useToolyard();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ call, option: { decision, scope }, trust, reason }: Answer) =>
      client.calls.decide(call.id, {
        decision,
        scope,
        ...(trust === undefined ? {} : { trustOption: trust.id }),
        ...(reason === '' ? {} : { reason }),
      }),
    onSuccess: (_call, { call, option, trust }) => {
      notifySuccess(
        `${option.decision === 'allow' ? 'Allowed' : 'Denied'}: ${call.tool}${trust === undefined ? '' : `, and ${trust.display} from now on`}`,
      );
      onAnswered?.();
    },
    onError: (error) => notifyError('The answer was not taken', error),
    // Not awaited: the next decision may follow at once.
    onSettled: (_call, _error, { call }) => {
      void queries.invalidateQueries({ queryKey: ['approvals'] });
      void queries.invalidateQueries({ queryKey: ['call', call.id] });
    },
  });
}
