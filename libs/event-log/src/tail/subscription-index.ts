import type { StoredEvent } from '../event-log.port.js';
import { ALL_TENANTS } from '../stream/stored-system-event.js';
import type { Subscriber, SubscriptionGroup } from './subscription-group.js';

/** Views of one tenant by the most selective field of their filter. */
interface TenantGroups {
  readonly bySession: Map<string, Set<SubscriptionGroup>>;
  readonly byAgent: Map<string, Set<SubscriptionGroup>>;
  readonly byTool: Map<string, Set<SubscriptionGroup>>;
  readonly all: Set<SubscriptionGroup>;
}

/**
 * Finds the groups of an event. Each group is in exactly one index, that of its most selective field (call, session, agent,
 * tool, else the tenant), so the cost of routing depends on the views near the event, not on their total.
 */
export class SubscriptionIndex {
  private readonly groups = new Map<string, SubscriptionGroup>();
  private readonly byCall = new Map<string, Set<SubscriptionGroup>>();
  private readonly byTenant = new Map<string, TenantGroups>();

  /** Adds a subscriber to the group with the same filter. `view` becomes that group if there is none yet. */
  join(reader: Subscriber, view: SubscriptionGroup): void {
    const shared = this.groups.get(view.key) ?? this.add(view);
    shared.subscribers.add(reader);
  }

  /** Removes the reader; a view without readers is dropped. */
  leave(reader: Subscriber, { key }: SubscriptionGroup): void {
    const view = this.groups.get(key);
    if (view?.subscribers.delete(reader) && view.subscribers.size === 0) this.remove(view);
  }

  /** Adds the event to every view that it matches; views without an earlier event in this tick are added to `touched`. */
  route(event: StoredEvent, touched: SubscriptionGroup[]): void {
    push(this.byCall.get(event.callId), event, touched);
    const tenant = this.byTenant.get(event.meta.tenantId);
    if (tenant === undefined) return event.meta.tenantId === ALL_TENANTS ? this.routeToAllTenants(event, touched) : undefined;
    const { sessionId, agentId, tool } = event.meta;
    if (sessionId !== undefined) push(tenant.bySession.get(sessionId), event, touched);
    if (agentId !== undefined) push(tenant.byAgent.get(agentId), event, touched);
    push(tenant.byTool.get(tool), event, touched);
    push(tenant.all, event, touched);
  }

  /** Routes an event of a worker. */
  private routeToAllTenants(event: StoredEvent, touched: SubscriptionGroup[]): void {
    for (const { all } of this.byTenant.values()) push(all, event, touched);
  }

  get size(): number {
    return this.groups.size;
  }

  private add(view: SubscriptionGroup): SubscriptionGroup {
    this.groups.set(view.key, view);
    this.place(
      view,
      (index, value) => addTo(index, value, view),
      (all) => all.add(view),
    );
    return view;
  }

  private remove(view: SubscriptionGroup): void {
    this.groups.delete(view.key);
    this.place(
      view,
      (index, value) => removeFrom(index, value, view),
      (all) => all.delete(view),
    );
    const tenant = this.byTenant.get(view.tenantId);
    if (tenant && tenant.bySession.size + tenant.byAgent.size + tenant.byTool.size + tenant.all.size === 0)
      this.byTenant.delete(view.tenantId);
  }

  private place(
    view: SubscriptionGroup,
    keyed: (index: Map<string, Set<SubscriptionGroup>>, value: string) => void,
    wide: (all: Set<SubscriptionGroup>) => void,
  ): void {
    const { callId, sessionId, agentId, tool } = view.filter;
    if (callId !== undefined) return keyed(this.byCall, callId);
    const tenant = this.tenant(view.tenantId);
    if (sessionId !== undefined) return keyed(tenant.bySession, sessionId);
    if (agentId !== undefined) return keyed(tenant.byAgent, agentId);
    if (tool !== undefined) return keyed(tenant.byTool, tool);
    wide(tenant.all);
  }

  private tenant(tenantId: string): TenantGroups {
    let tenant = this.byTenant.get(tenantId);
    if (tenant === undefined) {
      tenant = { bySession: new Map(), byAgent: new Map(), byTool: new Map(), all: new Set() };
      this.byTenant.set(tenantId, tenant);
    }
    return tenant;
  }
}

function push(views: Set<SubscriptionGroup> | undefined, event: StoredEvent, touched: SubscriptionGroup[]): void {
  if (views === undefined) return;
  for (const view of views) {
    if (!view.matches(event)) continue;
    if (view.pending.length === 0) touched.push(view);
    view.pending.push(event);
  }
}

function addTo(index: Map<string, Set<SubscriptionGroup>>, value: string, view: SubscriptionGroup): void {
  const views = index.get(value);
  if (views) views.add(view);
  else index.set(value, new Set([view]));
}

function removeFrom(index: Map<string, Set<SubscriptionGroup>>, value: string, view: SubscriptionGroup): void {
  const views = index.get(value);
  if (views?.delete(view) && views.size === 0) index.delete(value);
}
