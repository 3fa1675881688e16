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

/** What holds for single agents, by tenant and name: agents of two tenants that share a name share nothing else. */
type AgentsByTenant = Readonly<Record<string, Readonly<Record<string, AgentSettings>>>>;

/** The settings that come from the config file alone. */
export interface FileSettings {
  /** Issuers of JWTs that are accepted besides the keys. */
  readonly jwt?: readonly JwtIssuer[];
  /** How people sign in to the dashboard. */
  readonly login?: LoginSettings | undefined;
  /** For all agents; what it does not set comes from its profile. */
  readonly policy?: PolicySettings;
  /** How long calls are kept, and whether their content can be erased, by tenant. */
  readonly retention?: Readonly<Record<string, TenantRetention>>;
  /** By tenant and name. */
  readonly agents?: AgentsByTenant;
  /** What holds for all calls of a tenant: on top of what holds for all, below what its agents say. */
  readonly tenantRules?: Readonly<Record<string, TenantRules>>;
  /** A call is allowed by another key than the one that submitted it. */
  readonly fourEyes?: boolean;
  /** What happens to arguments and outputs before they are stored or sent. */
  readonly safety?: SafetySettings;
  /** For all agents. */
  readonly limits?: Limits;
  /** For all agents. */
  readonly hooks?: readonly Hook[];
  readonly sessionHooks?: SessionHookSettings;
  /** By tenant. */
  readonly webhooks?: Readonly<Record<string, readonly WebhookSettings[]>>;
  /** Sources of tools, for the workers. */
  readonly sources?: readonly SourceSettings[];
  readonly sourceRules?: SourceRules;
  /** Hosts on which commands of some calls run. */
  readonly remoteHosts?: RemoteHosts;
  /** Where the skills are that the tool `skill` loads. */
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
