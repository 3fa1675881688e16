import type { LiveCounts } from '#contracts';
import type { CallRecord } from '../record/call-record.js';

/** Fields of the hash of what has not ended: all calls, and those of a tool, an agent, a pool. */
export const ALL = '*';
export function liveFieldsOf({ tool, agentId, pool }: CallRecord): string[] {
  return [ALL, `t:${tool}`, `p:${pool}`, ...(agentId === undefined ? [] : [`a:${agentId}`])];
}

/** `running,queued,waiting for approval`; nothing when all are 0. */
export function encodeLive({ running, queued, waitingApproval }: LiveCounts): string | undefined {
  return running + queued + waitingApproval === 0 ? undefined : `${running},${queued},${waitingApproval}`;
}

export function decodeLive(text: string | undefined): LiveCounts {
  const [running = 0, queued = 0, waitingApproval = 0] = (text ?? '').split(',').map(Number);
  return { running, queued, waitingApproval };
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
    case 'ended':
      return counts;
    default:
      return status satisfies never;
  }
}
