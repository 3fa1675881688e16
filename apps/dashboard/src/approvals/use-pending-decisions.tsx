import { useQueryClient } from '@tanstack/react-query';
import { createContext, useContext, useEffect, useState, type ReactNode } from 'react';
import { notifyError, notifySuccess } from '../components/notify.js';
import { useFrames } from '../stream/frame-store.js';
import { useToolyard } from '../stream/toolyard.js';
import { PendingDecisions, type Answer, type PendingGroup } from './pending-decisions.js';

const Held = createContext<PendingDecisions | undefined>(undefined);

/**
 * Keeps the answers of all pages until they are sent. Leaving the tab drops those that are still held: a request that a closing page
 * sends may be lost, and one that was never sent cannot be half done. The browser asks before.
 */
export function PendingDecisionsProvider({ children }: { readonly children: ReactNode }) {
  const { client, feed } = useToolyard();
  const queries = useQueryClient();
  const [held] = useState(
    () =>
      new PendingDecisions(
        ({ call, option: { decision, scope }, trust, reason }) =>
          client.calls.decide(call.id, {
            decision,
            scope,
            ...(call.approval && { digest: call.approval.digest }),
            ...(trust && { trustOption: trust.id }),
            ...(reason === '' ? {} : { reason }),
          }),
        ({ answer, state, error }) => {
          if (state === 'sending') return;
          if (state === 'taken') notifySuccess(answerText(answer));
          else notifyError(`The answer was not taken: ${answer.call.tool}`, error);
          void queries.invalidateQueries({ queryKey: ['approvals'] }, { cancelRefetch: false });
          void queries.invalidateQueries({ queryKey: ['call', answer.call.id] });
          void queries.invalidateQueries({ queryKey: ['asked-call', answer.call.id] });
        },
      ),
  );
  useEffect(
    () =>
      feed.listen((events) => {
        for (const { type, subject } of events)
          if (type === 'call.approval_decided' || type === 'call.end')
            held.withdraw(subject, 'The call was answered elsewhere or has ended.');
      }),
    [feed, held],
  );
  useEffect(() => {
    const drop = () => held.drop();
    const ask = (event: BeforeUnloadEvent) => held.groups.length > 0 && event.preventDefault();
    window.addEventListener('pagehide', drop);
    window.addEventListener('beforeunload', ask);
    return () => {
      drop();
      window.removeEventListener('pagehide', drop);
      window.removeEventListener('beforeunload', ask);
    };
  }, [held]);
  return <Held value={held}>{children}</Held>;
}

/** Rendered again when an answer is held, taken back or sent. */
export function usePendingDecisions(): PendingDecisions {
  const held = useContext(Held);
  if (held === undefined) throw new Error('useHeldAnswers needs a HeldAnswersProvider above it');
  useFrames(held);
  return held;
}

/** The answer to one call: giving it, and what can be done while it is held. */
export function useAnswer(callId: string | undefined) {
  const held = usePendingDecisions();
  const group = callId === undefined ? undefined : held.groupOf(callId);
  return {
    group,
    answer: group?.answers.find(({ call }) => call.id === callId),
    isSending: callId !== undefined && held.isSending(callId),
    give: (answer: Answer) => held.hold([answer]),
    sendNow: () => callId !== undefined && void held.sendOne(callId),
    undo: () => callId !== undefined && held.undoOne(callId),
  };
}

/** Text of an answer: `Allowed: shell`. */
function answerText({ call, option, trust }: Answer): string {
  return `${option.decision === 'allow' ? 'Allowed' : 'Denied'}: ${call.tool}${trust === undefined ? '' : `, and ${trust.display} from now on`}`;
}

/** `Allow shell`, `Deny 3 calls`. */
export function groupText({ answers }: PendingGroup): string {
  const [first] = answers;
  const verb = first?.option.decision === 'allow' ? 'Allow' : 'Deny';
  return answers.length === 1 ? `${verb} ${first?.call.tool ?? ''}` : `${verb} ${answers.length} calls`;
}
