import { isDeepStrictEqual } from 'node:util';
import { ALL_TENANTS, DEFAULT_TENANT, type TenantRetention } from '#contracts';
import type { GatewayConfig } from '../platform/gateway.config.js';

const NAMED_HOLDS = ['heldSessions', 'heldAgents'] as const;

export interface HoldChange {
  /** Undefined for a hold on all calls of the tenant. */
  readonly name: string | undefined;
  readonly setting: 'legalHold' | (typeof NAMED_HOLDS)[number];
  readonly holds: boolean;
}

/** Differences between two configurations for a tenant: names of fields of the config file. */
export interface TenantChange {
  readonly tenantId: string;
  readonly changed: readonly string[];
  /** Legal holds that were set or lifted. */
  readonly holds: readonly HoldChange[];
}

/** Tenants with changes. General settings count for each tenant that the file names. */
export function configChanges(before: GatewayConfig, after: GatewayConfig): TenantChange[] {
  const tenants = new Set([DEFAULT_TENANT, ...tenantsOf(before), ...tenantsOf(after)]);
  return [...tenants].flatMap((tenantId) => {
    const [was, is] = [viewOf(before, tenantId), viewOf(after, tenantId)];
    const changed = Object.keys(is).filter((name) => !isDeepStrictEqual(was[name], is[name]));
    return changed.length === 0 ? [] : [{ tenantId, changed, holds: holdChanges(before, after, tenantId) }];
  });
}

function tenantsOf({ keys, agents = {}, tenantRules = {}, retention = {}, webhooks = {} }: GatewayConfig): string[] {
  return [...keys.map(({ tenant }) => tenant), ...[agents, tenantRules, retention, webhooks].flatMap((byTenant) => Object.keys(byTenant))];
}

/** Settings that apply to a tenant's calls and administrators, by field of the config file. */
function viewOf(config: GatewayConfig, tenantId: string): Readonly<Record<string, unknown>> {
  const own = <T>(byTenant: Readonly<Record<string, T>> = {}) => (Object.hasOwn(byTenant, tenantId) ? byTenant[tenantId] : undefined);
  const isTheirs = ({ tenant }: { readonly tenant?: string | undefined }) =>
    tenant === undefined || tenant === tenantId || tenant === ALL_TENANTS;
  const rules = own(config.tenantRules) ?? {};
  const { defaultPosture, policy, fourEyes, limits, hooks, sessionHooks, safety, sourceRules, skills } = config;
  return {
    keys: config.keys.filter(isTheirs),
    jwt: (config.jwt ?? []).filter(isTheirs),
    login: config.login,
    sources: (config.sources ?? []).filter(isTheirs),
    agents: own(config.agents) ?? {},
    retention: own(config.retention) ?? {},
    webhooks: own(config.webhooks) ?? [],
    defaults: [defaultPosture, rules.posture],
    policy: [policy, rules.policy],
    approvals: [fourEyes, rules.approvals],
    limits: [limits, rules.limits],
    hooks: [hooks, rules.hooks],
    sessionHooks: [sessionHooks, rules.sessionHooks],
    safety: [safety, rules.safety],
    sourceRules,
    skills,
  };
}

function holdChanges(before: GatewayConfig, after: GatewayConfig, tenantId: string): HoldChange[] {
  const [was, is] = [retentionOf(before, tenantId), retentionOf(after, tenantId)];
  const holds = is.legalHold === true;
  const ofTenant: HoldChange[] = holds === (was.legalHold === true) ? [] : [{ name: undefined, setting: 'legalHold', holds }];
  const named = NAMED_HOLDS.flatMap((setting) => {
    const [earlier, current] = [new Set(was[setting]), new Set(is[setting])];
    return [
      ...[...current].filter((name) => !earlier.has(name)).map((name) => ({ name, setting, holds: true })),
      ...[...earlier].filter((name) => !current.has(name)).map((name) => ({ name, setting, holds: false })),
    ];
  });
  return [...ofTenant, ...named];
}

function retentionOf({ retention = {} }: GatewayConfig, tenantId: string): TenantRetention {
  return (Object.hasOwn(retention, tenantId) ? retention[tenantId] : undefined) ?? {};
}
