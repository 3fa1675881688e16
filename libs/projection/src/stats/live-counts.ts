import type { LiveCounts } from '#contracts';
import type { CallRecord } from '#history';

/** Fields of the hash of what has not ended: all calls, and those of a tool, an agent, a pool. */
export const ALL = '*';
export function liveFieldsOf({ tool, agentId, pool }: CallRecord): string[] {
  return [ALL, `t:${tool}`, `p:${pool}`, ...(agentId === undefined ? [] : [`a:${agentId}`])];
}

/** `running,queued,waiting for approval,waiting for input`, the last only where there are any; nothing when all are 0. */
export function encodeLive({ running, queued, waitingApproval, waitingInput }: LiveCounts): string | undefined {
  if (running + queued + waitingApproval + waitingInput === 0) return undefined;
  return `${running},${queued},${waitingApproval}${waitingInput === 0 ? '' : `,${waitingInput}`}`;
}

export function decodeLive(text: string | undefined): LiveCounts {
  const [running = 0, queued = 0, waitingApproval = 0, waitingInput = 0] = (text ?? '').split(',').map(Number);
  return { running, queued, waitingApproval, waitingInput };
}

/** The counts with a call taken out or put in. */
export function countLive(counts: LiveCounts, { status }: CallRecord, by: 1 | -1): LiveCounts {
  switch (status) {
    case 'running':
      return { ...counts, running: counts.running + by };
    case 'queued':
      return { ...counts, queued: counts.queued + by };
    case 'waiting_approval':
      return { ...counts, waitingApproval: counts.waitingApproval + by };
    case 'waiting_input':
      return { ...counts, waitingInput: counts.waitingInput + by };
    case 'ended':
      return counts;
    default:
      return status satisfies never;
  }
}
