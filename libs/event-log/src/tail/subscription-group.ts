import type { EventFilter } from '#contracts';
import type { StoredEvent } from '../event-log.port.js';
import { ALL_TENANTS } from '../stream/stored-system-event.js';
import type { EventBatch } from './event-batch.js';

/** Live subscriber of a view. */
export interface Subscriber {
  push(batch: EventBatch): void;
  /** Called after `push` threw. Must not throw. */
  fail(error: unknown): void;
}

/** Filter of a tenant with all its subscribers: events are matched and rendered once for all of them. */
export class SubscriptionGroup {
  readonly key: string;
  readonly subscribers = new Set<Subscriber>();
  /** Events of the present tick. */
  pending: StoredEvent[] = [];
  private readonly types: ReadonlySet<string> | undefined;

  /** `only`: partition of all events of this filter, if there is only one. */
  constructor(
    readonly tenantId: string,
    readonly filter: EventFilter,
    readonly singlePartition: number | undefined,
  ) {
    this.key = groupKey(tenantId, filter);
    this.types = filter.types && new Set(filter.types);
  }

  /**
   * True if the filter matches the event. The tenant is compared first, so that no other condition can pass an event of another
   * tenant. System events match only filters that name their type; no filter can name the types of administrative acts.
   */
  matches({ callId, type, meta }: StoredEvent): boolean {
    const { filter } = this;
    return (
      (meta.tenantId === this.tenantId || meta.tenantId === ALL_TENANTS) &&
      (filter.callId === undefined || filter.callId === callId) &&
      (filter.sessionId === undefined || filter.sessionId === meta.sessionId) &&
      (filter.agentId === undefined || filter.agentId === meta.agentId) &&
      (filter.tool === undefined || filter.tool === meta.tool) &&
      (this.types === undefined ? callId !== '' : this.types.has(type))
    );
  }
}

/** Key of a filter: equal for filters that match the same events. */
export function groupKey(tenantId: string, { callId, sessionId, agentId, tool, types }: EventFilter): string {
  return JSON.stringify([tenantId, callId, sessionId, agentId, tool, types && [...new Set(types)].sort()]);
}
