import {
  type AgentSettings,
  type ConfigFile,
  DEFAULT_TENANT,
  type Hook,
  type JwtIssuer,
  type Limits,
  type LoginSettings,
  type PolicySettings,
  type RemoteHosts,
  type SafetySettings,
  type SessionHookSettings,
  type SkillRoot,
  type SourceRules,
  type SourceSettings,
  type TenantRetention,
  type TenantRules,
  type WebhookSettings,
} from '#contracts';

/** Settings of single agents, by tenant and name: agents of two tenants with the same name share nothing. */
type AgentsByTenant = Readonly<Record<string, Readonly<Record<string, AgentSettings>>>>;

/** Settings from the config file only. */
export interface FileSettings {
  /** Issuers of JWTs accepted in addition to the keys. */
  readonly jwt?: readonly JwtIssuer[];
  /** Sign-in to the dashboard. */
  readonly login?: LoginSettings | undefined;
  /** Policy for all agents; absent fields come from its profile. */
  readonly policy?: PolicySettings;
  /** Retention of calls and erasability of their content, by tenant. */
  readonly retention?: Readonly<Record<string, TenantRetention>>;
  /** Settings of agents by tenant and name. */
  readonly agents?: AgentsByTenant;
  /** Rules for all calls of a tenant: override the general ones, overridden by the agents'. */
  readonly tenantRules?: Readonly<Record<string, TenantRules>>;
  /** True if a call must be allowed with another key than its submitter's. */
  readonly fourEyes?: boolean;
  /** Redaction of arguments and outputs before they are stored or sent. */
  readonly safety?: SafetySettings;
  /** Limits for all agents. */
  readonly limits?: Limits;
  /** Hooks for all agents. */
  readonly hooks?: readonly Hook[];
  readonly sessionHooks?: SessionHookSettings;
  /** Webhooks by tenant. */
  readonly webhooks?: Readonly<Record<string, readonly WebhookSettings[]>>;
  /** Sources of tools, for the workers. */
  readonly sources?: readonly SourceSettings[];
  readonly sourceRules?: SourceRules;
  /** Hosts that run commands of some calls. */
  readonly remoteHosts?: RemoteHosts;
  /** Folders of the skills that the tool `skill` loads. */
  readonly skills?: readonly SkillRoot[];
}

export function fileSettings(file: ConfigFile): FileSettings {
  const { jwt, login, limits, policy, approvals, hooks, sessionHooks, sources, sourceRules, remoteHosts, skills, safety } = file;
  return {
    jwt,
    login,
    limits,
    policy,
    agents: agentsByTenant(file),
    tenantRules: rulesByTenant(file),
    fourEyes: approvals.fourEyes,
    hooks,
    sessionHooks,
    sources,
    sourceRules,
    remoteHosts,
    skills,
    retention: byTenant(file, ({ retention }) => retention),
    webhooks: byTenant(file, ({ webhooks }) => webhooks),
    safety,
  };
}

function byTenant<T>({ tenants }: ConfigFile, settingOf: (settings: ConfigFile['tenants'][string]) => T): Record<string, T> {
  return Object.fromEntries(Object.entries(tenants).map(([tenant, settings]) => [tenant, settingOf(settings)]));
}

function agentsByTenant(file: ConfigFile): AgentsByTenant {
  const named = byTenant(file, (settings) => settings.agents);
  return { ...named, [DEFAULT_TENANT]: { ...file.agents, ...named[DEFAULT_TENANT] } };
}

function rulesByTenant({ tenants }: ConfigFile): Record<string, TenantRules> {
  const rules = Object.entries(tenants).map(([tenant, { policy, posture, limits, hooks, approvals, sessionHooks, safety }]) => {
    const given = Object.entries({ policy, posture, limits, hooks, approvals, sessionHooks, safety }).filter(
      ([, value]) => value !== undefined,
    );
    return [tenant, Object.fromEntries(given)] as const;
  });
  return Object.fromEntries(rules.filter(([, given]) => Object.keys(given).length > 0));
}
