import type { CallEvent, LiveCounts, Pool, Stats } from '#contracts';

/** The most active calls that are tracked one by one; the oldest beyond it are dropped until the next reload. */
export const KEPT_ACTIVE = 20_000;

type Place = keyof LiveCounts;

interface Active {
  place: Place;
  readonly tool: string;
  readonly agent: string | undefined;
  readonly pool: Pool | undefined;
}

export type Dimension = 'tool' | 'agent' | 'tenant' | 'pool';

const NONE: LiveCounts = { running: 0, queued: 0, suspended: 0, waitingApproval: 0, waitingInput: 0 };

/**
 * Current counts: the numbers of the gateway (`anchor`), updated by every event since. Reloaded regularly, since errors from events
 * of unknown calls would add up.
 */
export class CurrentCounts {
  private readonly active = new Map<string, Active>();
  private total: LiveCounts = NONE;
  private anchored = false;
  private readonly by = { tool: new Map<string, LiveCounts>(), agent: new Map<string, LiveCounts>(), pool: new Map<string, LiveCounts>() };
  private tenant = 'this tenant';

  /** `poolOf`: from the catalog of tools, for calls whose submission was not seen. */
  constructor(private poolOf: (tool: string) => Pool | undefined = () => undefined) {}

  /** True after the gateway has sent numbers. Before, all counts are 0. */
  get isKnown(): boolean {
    return this.anchored;
  }

  /** Replaces the counts by the gateway's, which include all events so far. */
  anchor(now: Stats['now'], poolOf = this.poolOf): void {
    this.poolOf = poolOf;
    this.anchored = true;
    const { byTool, byAgent, byPool, ...total } = now;
    this.total = total;
    this.by.tool = new Map(byTool.top.map(({ name, ...counts }) => [name, counts]));
    this.by.agent = new Map(byAgent.top.map(({ name, ...counts }) => [name, counts]));
    this.by.pool = new Map(byPool.map(({ name, ...counts }) => [name, counts]));
  }

  fold(event: CallEvent): void {
    this.tenant = event.tenantid;
    switch (event.type) {
      case 'call.submitted':
        return this.move(event, undefined, 'queued', event.data.pool);
      case 'call.approval_requested':
        return this.move(event, 'queued', 'waitingApproval');
      case 'call.approval_decided':
        return this.move(event, 'waitingApproval', 'queued');
      case 'call.start':
        return this.move(event, 'queued', 'running');
      case 'call.input_requested':
        return this.move(event, 'running', 'waitingInput');
      case 'call.input_given':
        return this.move(event, 'waitingInput', 'suspended');
      case 'call.retry':
        return this.move(event, 'running', event.data.reason === 'suspended' ? 'suspended' : 'queued');
      case 'call.end':
        return this.move(event, event.attempt > 0 ? 'running' : 'queued', undefined);
      case 'call.update':
      case 'call.progress':
      case 'call.hook':
      case 'call.turn':
      case 'call.cancel_requested':
        return undefined;
    }
  }

  counts(): LiveCounts {
    return this.total;
  }

  /** The groups with active calls, most running first. A key sees its own tenant only. */
  groups(dimension: Dimension): { readonly name: string; readonly counts: LiveCounts }[] {
    if (dimension === 'tenant') return [{ name: this.tenant, counts: this.total }];
    return [...this.by[dimension]]
      .map(([name, counts]) => ({ name, counts }))
      .filter(({ counts }) => isActive(counts))
      .sort((a, b) => b.counts.running - a.counts.running || b.counts.queued - a.counts.queued || a.name.localeCompare(b.name));
  }

  get remembered(): number {
    return this.active.size;
  }

  /** `expected`: the state that an unknown call must have had. */
  private move(event: CallEvent, expected: Place | undefined, to: Place | undefined, pool?: Pool): void {
    const known = this.active.get(event.subject);
    const call = known ?? {
      place: to ?? 'queued',
      tool: event.tool,
      agent: event.agentid,
      pool: pool ?? this.poolOf(event.tool),
    };
    const from = known?.place ?? expected;
    if (from !== undefined) this.add(call, from, -1);
    if (to === undefined) {
      this.active.delete(event.subject);
      return;
    }
    this.add(call, to, 1);
    call.place = to;
    this.active.set(event.subject, call);
    if (this.active.size > KEPT_ACTIVE) this.forgetOldest();
  }

  private add(call: Active, place: Place, by: 1 | -1): void {
    this.total = changed(this.total, place, by);
    for (const [dimension, name] of [
      ['tool', call.tool],
      ['agent', call.agent],
      ['pool', call.pool],
    ] as const) {
      if (name === undefined) continue;
      const groups = this.by[dimension];
      const counts = changed(groups.get(name) ?? NONE, place, by);
      if (!isActive(counts)) groups.delete(name);
      else groups.set(name, counts);
    }
  }

  private forgetOldest(): void {
    const oldest = this.active.keys().next();
    if (!oldest.done) this.active.delete(oldest.value);
  }
}

function isActive({ running, queued, suspended, waitingApproval, waitingInput }: LiveCounts): boolean {
  return running + queued + suspended + waitingApproval + waitingInput > 0;
}

function changed(counts: LiveCounts, place: Place, by: number): LiveCounts {
  return { ...counts, [place]: Math.max(0, counts[place] + by) };
}
