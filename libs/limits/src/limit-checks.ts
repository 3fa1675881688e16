import { KEPT_WITH_CALL_SECONDS, type Limits, type LimitScope, type ToolTier } from '#contracts';

const HOUR_MS = 3_600_000;
/** Lifetime of a key, longer than that of its calls. */
const ENTRY_TTL_MS = KEPT_WITH_CALL_SECONDS * 1_000;

/** Facts of a call that limits use. */
export interface LimitedCall {
  readonly tenantId: string;
  readonly keyId: string;
  readonly agentId?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly tool: string;
  readonly tier: ToolTier;
}

/** Place of a child call: its root, and its depth. */
export interface CallTree {
  readonly rootCallId: string;
  readonly depth: number;
}

/** Limit that counts a call. `name`: its key in Redis within the tenant. */
export interface LimitCheck {
  readonly rule: 'actions' | 'rate' | 'concurrency' | 'tree-calls';
  readonly kind: 'window' | 'open' | 'total';
  readonly name: string;
  readonly calls: number;
  readonly ms: number;
  /** Scope of the count, for people: `session s1`, `tool shell of tenant acme`. */
  readonly scopeLabel: string;
}

/** Limits that count this call; without any, no Redis request is needed. Pure, and the same for a submission and a quote. */
export function limitChecks(call: LimitedCall, limits: Limits, tree?: CallTree): LimitCheck[] {
  const { actionsPerHour, rates = [], concurrency = [], treeCalls } = limits;
  const checks: LimitCheck[] = [];
  if (actionsPerHour !== undefined && call.tier !== 'read_only') {
    const { id, whose } = scopeOf('session', call);
    checks.push({ rule: 'actions', kind: 'window', name: `actions:${id}`, calls: actionsPerHour, ms: HOUR_MS, scopeLabel: whose });
  }
  for (const { per, calls, windowMs, tools } of rates) {
    if (tools !== undefined && !tools.includes(call.tool)) continue;
    const { id, whose } = scopeOf(per, call);
    checks.push({
      rule: 'rate',
      kind: 'window',
      name: `rate:${windowMs}:${id}${only(tools)}`,
      calls,
      ms: windowMs,
      scopeLabel: whose + of(tools),
    });
  }
  for (const { per, calls, tools } of concurrency) {
    if (tools !== undefined && !tools.includes(call.tool)) continue;
    const { id, whose } = scopeOf(per, call);
    checks.push({
      rule: 'concurrency',
      kind: 'open',
      name: `open:${id}${only(tools)}`,
      calls,
      ms: ENTRY_TTL_MS,
      scopeLabel: whose + of(tools),
    });
  }
  if (tree !== undefined && treeCalls !== undefined) {
    const { rootCallId: root } = tree;
    const name = `tree:${root}`;
    checks.push({ rule: 'tree-calls', kind: 'total', name, calls: treeCalls, ms: ENTRY_TTL_MS, scopeLabel: `the tree below call ${root}` });
  }
  return checks.length < 2 ? checks : withoutRepeats(checks);
}

function scopeOf(per: LimitScope, { tenantId, keyId, agentId, sessionId, tool }: LimitedCall): { id: string; whose: string } {
  switch (per) {
    case 'key':
      return { id: `key:${keyId}`, whose: `key ${keyId}` };
    case 'tenant':
      return { id: 'tenant', whose: `tenant ${tenantId}` };
    case 'tool':
      return { id: `tool:${tool}`, whose: `tool ${tool} of tenant ${tenantId}` };
    case 'agent':
      return agentId === undefined ? { id: `key:${keyId}`, whose: `key ${keyId}` } : { id: `agent:${agentId}`, whose: `agent ${agentId}` };
    case 'session':
      if (sessionId !== undefined) return { id: `session:${sessionId}`, whose: `session ${sessionId}` };
      return scopeOf('agent', { tenantId, keyId, agentId, sessionId, tool, tier: 'read_only' });
    default:
      return per satisfies never;
  }
}

/** Merges rules that count the same calls; the stricter decides. */
function withoutRepeats(checks: readonly LimitCheck[]): LimitCheck[] {
  const byName = new Map<string, LimitCheck>();
  for (const check of checks) {
    const earlier = byName.get(check.name);
    if (earlier === undefined || check.calls < earlier.calls) byName.set(check.name, check);
  }
  return [...byName.values()];
}

function only(tools: readonly string[] | undefined): string {
  return tools === undefined ? '' : `:${[...tools].sort().join('+')}`;
}

function of(tools: readonly string[] | undefined): string {
  return tools === undefined ? '' : ` with ${tools.join(', ')}`;
}
