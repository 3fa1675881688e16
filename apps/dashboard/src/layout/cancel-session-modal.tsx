import { escapeInvisible } from '#subject';
import { ConfirmModal } from '../components/confirm-modal.js';
import { useToolyard } from '../stream/toolyard.js';

/** Asks before everything of a session is cancelled. */
export function CancelSessionModal({ sessionId, onClose }: { readonly sessionId: string; readonly onClose: () => void }) {
  const { client } = useToolyard();
  return (
    <ConfirmModal
      title={`Cancel session ${escapeInvisible(sessionId)}?`}
      keep="Close"
      confirm="Cancel it"
      scope="cancel"
      action={() => client.sessions.cancel(sessionId, { reason: 'stopped in the dashboard' })}
      done={() => `Cancelled: the open calls of ${sessionId}`}
      failed="The session was not cancelled"
      onClose={onClose}
    >
      Its calls that have not ended are cancelled, and so are its batches.
    </ConfirmModal>
  );
}
