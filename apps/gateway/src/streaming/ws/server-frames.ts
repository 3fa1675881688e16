import type { Call, Gap, Principal, Problem } from '#contracts';
import type { EventBatch, ResyncReason } from '#event-log';

/** Frames of the server, as JSON text. Stored events are joined as text and never parsed. */
export const serverFrames = {
  ready: ({ tenantId, agentId }: Principal) => JSON.stringify({ op: 'ready', tenantId, agentId }),
  subscribed: (id: string, cursor: string) => `{"op":"subscribed","id":${id},"cursor":${JSON.stringify(cursor)}}`,
  unsubscribed: (id: string) => `{"op":"unsubscribed","id":${id}}`,
  event: (id: string, json: string, cursor: string) => `{"op":"event","id":${id},"event":${json},"cursor":"${cursor}"}`,
  events: (id: string, { text, cursor }: EventBatch) => `{"op":"events","id":${id},"events":[${text}],"cursor":"${cursor}"}`,
  gap: (id: string, gap: Gap) => `{"op":"gap","id":${id},${JSON.stringify(gap).slice(1)}`,
  resync: (id: string, reason: ResyncReason, snapshot: readonly Call[], cursor: string) =>
    `{"op":"resync","id":${id},"reason":"${reason}","snapshot":${JSON.stringify(snapshot)},"cursor":"${cursor}"}`,
  accepted: (id: string, call: Call) => `{"op":"accepted","id":${id},"call":${JSON.stringify(call)}}`,
  ok: (id: string, call: Call) => `{"op":"ok","id":${id},"call":${JSON.stringify(call)}}`,
  error: (id: string | undefined, problem: Problem) =>
    `{"op":"error",${id === undefined ? '' : `"id":${id},`}"problem":${JSON.stringify(problem)}}`,
  reconnect: (afterMs: number, reason: string) => JSON.stringify({ op: 'reconnect', afterMs, reason }),
  pong: (id: string | undefined) => (id === undefined ? '{"op":"pong"}' : `{"op":"pong","id":${id}}`),
} as const;
