import type { CallEvent, ClientFrame, EventFilter, ServerFrame } from '#contracts';
import type { FullLog } from '../log-invariants.js';

/** A call that a client got by an answer of the gateway. */
interface Accepted {
  readonly key: string;
  readonly callId: string;
  readonly sessionId: string | undefined;
  readonly idempotencyKey: string | undefined;
}

/** Frames sent and received by one socket, in order. */
export interface SocketHistory {
  readonly sent: readonly Partial<ClientFrame>[];
  readonly frames: readonly { readonly frame: ServerFrame }[];
}

/** Observations of clients, as plain data. */
export interface ClientHistory {
  readonly accepted: readonly Accepted[];
  readonly sockets: readonly SocketHistory[];
}

/** Histories of the clients of one installation, to be compared with its log at the end. */
export class ClientHistories {
  private readonly accepted: Accepted[] = [];
  private readonly sockets: SocketHistory[] = [];

  get history(): ClientHistory {
    return { accepted: this.accepted, sockets: this.sockets.map(({ sent, frames }) => ({ sent, frames })) };
  }

  /** Adds the history of another process. */
  add({ accepted, sockets }: ClientHistory): void {
    this.accepted.push(...accepted);
    this.sockets.push(...sockets);
  }

  answered(accepted: Accepted): void {
    this.accepted.push(accepted);
  }

  socket(history: SocketHistory): void {
    this.sockets.push(history);
  }

  /** I1 what was accepted is in the log; I8 one call for each key; I10 sockets got what the log has; I12 a key and a socket got what is of one tenant. */
  check(log: FullLog): string[] {
    return [...this.checkCalls(log), ...this.checkTenants(log), ...this.sockets.flatMap((socket) => checkSocket(socket, log))];
  }

  /** I1 and I8 only: a key may change its tenant, and I10 needs the log of all calls. */
  checkCalls(log: Pick<FullLog, 'calls'>): string[] {
    return [...this.checkAccepted(log), ...this.checkKeys()];
  }

  private checkAccepted(log: Pick<FullLog, 'calls'>): string[] {
    const lost = this.accepted.filter(({ callId }) => !log.calls.has(callId));
    return [...new Set(lost.map(({ callId }) => `I1 ${callId}: a client got it, the log does not have it`))];
  }

  private checkTenants(log: Pick<FullLog, 'calls'>): string[] {
    const tenants = new Map<string, string>();
    return this.accepted.flatMap(({ key, callId }) => {
      const [first] = log.calls.get(callId) ?? [];
      if (first === undefined) return [];
      const tenant = tenants.get(key) ?? first.tenantid;
      tenants.set(key, tenant);
      return tenant === first.tenantid ? [] : [`I12 ${callId}: of ${first.tenantid}, got with a key of ${tenant}`];
    });
  }

  private checkKeys(): string[] {
    const holders = new Map<string, string>();
    return this.accepted.flatMap(({ key, callId, sessionId, idempotencyKey }) => {
      if (idempotencyKey === undefined) return [];
      const name = JSON.stringify([key, sessionId, idempotencyKey]);
      const holder = holders.get(name) ?? callId;
      holders.set(name, holder);
      return holder === callId ? [] : [`I8 ${callId}: a client got it for the idempotency key of ${holder}`];
    });
  }
}

const byUrl = new Map<string, ClientHistories>();

/** The histories of the clients of the gateway at this address, in this process. */
export function historiesOf(url: string): ClientHistories {
  const histories = byUrl.get(url) ?? new ClientHistories();
  byUrl.set(url, histories);
  return histories;
}

/** Another gateway begins at this address: earlier test files of this process may have had one there. */
export function forgetHistories(url: string): void {
  byUrl.delete(url);
}

function checkSocket({ sent, frames }: SocketHistory, log: FullLog): string[] {
  const ids = new Set(frames.flatMap(({ frame }) => ('id' in frame && frame.id !== undefined ? [frame.id] : [])));
  const ofId = (id: unknown) => frames.filter(({ frame }) => 'id' in frame && frame.id === id).map(({ frame }) => frame);
  const filterOf = (id: unknown) => {
    const asked = sent.filter((frame) => 'id' in frame && frame.id === id);
    const [only] = asked;
    return asked.length === 1 && only?.op === 'subscribe' ? (only.filter ?? {}) : undefined;
  };
  return [...ids].flatMap((id) => checkSubscription(ofId(id), filterOf(id), log));
}

/** `filter` is absent for what is no subscription of its own: then it is not known what must have come. */
function checkSubscription(frames: readonly ServerFrame[], filter: EventFilter | undefined, log: FullLog): string[] {
  // Frames after a resync do not continue the earlier ones.
  if (frames.some(({ op }) => op === 'resync')) return [];
  const events = frames
    .flatMap((frame) => (frame.op === 'event' ? [frame.event] : frame.op === 'events' ? frame.events : []))
    .filter((event): event is CallEvent => 'callver' in event);
  const violations: string[] = [];
  const range = new Map<number, { first: number; last: number }>();
  const seen = new Set<string>();
  for (const event of events) {
    const { partition, seq } = placeOf(event);
    const known = range.get(partition);
    if (known && seq <= known.last) violations.push(`I10 socket: event ${event.id} came after ${known.last} of its partition`);
    range.set(partition, { first: known?.first ?? seq, last: Math.max(seq, known?.last ?? 0) });
    seen.add(`${partition}.${seq}`);
    const stored = log.events.get(`${partition}.${seq}`);
    if (stored === undefined) violations.push(`I10 socket: event ${event.id} is not in the log`);
    else if (JSON.stringify({ ...stored, id: '' }) !== JSON.stringify({ ...event, id: '' }))
      violations.push(`I10 socket: event ${event.id} differs from that in the log`);
    if (event.tenantid !== events[0]?.tenantid) violations.push(`I12 socket: event ${event.id} is of tenant ${event.tenantid}`);
  }
  if (filter === undefined || events.length === 0) return violations;
  const gapped = frames.some(({ op }) => op === 'gap');
  for (const [place, event] of log.events) {
    const { partition, seq } = placeOf(event);
    const bounds = range.get(partition);
    if (!bounds || seq < bounds.first || seq > bounds.last || seen.has(place)) continue;
    if (event.tenantid !== events[0]?.tenantid || !matches(event, filter)) continue;
    if (gapped && (event.type === 'call.update' || event.type === 'call.progress')) continue;
    violations.push(`I10 socket: ${event.type} ${event.id} is missing`);
  }
  return violations;
}

function matches(event: CallEvent, { callId, sessionId, agentId, tool, types }: EventFilter): boolean {
  return (
    (callId === undefined || event.subject === callId) &&
    (sessionId === undefined || event.sessionid === sessionId) &&
    (agentId === undefined || event.agentid === agentId) &&
    (tool === undefined || event.tool === tool) &&
    (types === undefined || types.includes(event.type))
  );
}

function placeOf({ id }: CallEvent): { partition: number; seq: number } {
  const [, partition = 0, seq = 0] = id.split('.').map(Number);
  return { partition, seq };
}
