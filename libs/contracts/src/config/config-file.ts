import { z } from 'zod';
import { Posture } from '../api/sessions.api.js';
import { KEY_RIGHTS } from '../values/key-rights.js';
import { Label } from '../values/names.js';
import { JwtIssuers } from './jwt-issuer.js';
import { LoginSettings } from './login.js';
import { Hooks, SessionHookSettings } from '../hooks/hook.js';
import { Limits } from '../policy/limits.js';
import { PolicySettings, ToolPattern } from '../policy/policy-config.js';
import { Plugins } from './plugin-settings.js';
import { ALL_TENANTS, checkAgentTools, SourceRules, SourceSettings } from '../sources/source.js';
import { Webhooks } from './webhook.js';
import { SafetySettings, TenantSafetySettings, withTenantSafety } from '../safety/safety-settings.js';
import { RemoteHosts } from './remote-hosts.js';
import { SkillRoots } from './skill-settings.js';

/** API key in the config file: the key itself, or only its SHA-256. */
export const ApiKeyConfig = z
  .strictObject({
    id: Label.describe('Names the key in events and logs; never the key itself.'),
    key: z.string().min(16, 'expected at least 16 characters').optional().describe('The key. Exactly one of `key` and `sha256`.'),
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/, 'expected 64 lower-case hex digits')
      .optional()
      .describe('SHA-256 of the key, 64 lower-case hexadecimal digits.'),
    tenant: Label.describe('The owner of all that is done with the key.'),
    ...KEY_RIGHTS,
    workerSecrets: z
      .boolean()
      .optional()
      .describe('`true`: a worker with this key gets the `secrets` of its source with its calls. Not set: none.'),
    person: z
      .string()
      .min(1)
      .max(255)
      .optional()
      .describe(
        'Who has the key, for `approvals.fourEyes`: all keys of one person, and tokens and logins that this text names (`subjectClaim`), count as one. Not set: the key counts for itself.',
      ),
  })
  .refine((entry) => (entry.key === undefined) !== (entry.sha256 === undefined), 'expected exactly one of `key` and `sha256`');
export type ApiKeyConfig = z.output<typeof ApiKeyConfig>;

/**
 * Settings for the calls of one agent, which override those for all agents. `tools`, `allowedTools` and `toolAliases` are short
 * forms of those in `policy`.
 */
export const AgentSettings = z.strictObject({
  policy: PolicySettings.optional().describe('On top of the policy for all agents.'),
  posture: Posture.partial().optional().describe('How freely its calls may act, in sessions that do not say.'),
  tools: z.array(ToolPattern).optional().describe('`policy.tools`, for short.'),
  allowedTools: z.array(ToolPattern).optional().describe('`policy.allowedTools`, for short.'),
  toolAliases: PolicySettings.shape.toolAliases.describe('`policy.toolAliases`, for short.'),
  limits: Limits.optional().describe('On top of the limits for all agents.'),
  hooks: Hooks.optional().describe('Run after those for all agents.'),
});
export type AgentSettings = z.output<typeof AgentSettings>;

/**
 * Settings of approvals. With `fourEyes` the key that submitted a call, or a call that it replays, cannot allow it, and a key's
 * changes of a session (posture, tools, grants, also by its decisions) do not loosen its own calls: they are evaluated with and
 * without the session, and the stricter decision counts.
 */
export const ApprovalSettings = z.strictObject({
  fourEyes: z
    .boolean()
    .default(false)
    .describe(
      'The key that submitted a call, or a call that it replays, cannot allow it, arguments are not edited on approval, and what a key changed of a session does not loosen its own calls.',
    ),
});

/** Approval settings of a tenant. An absent field has the value for all tenants. */
const TenantApprovals = z.strictObject({
  fourEyes: ApprovalSettings.shape.fourEyes.removeDefault().optional().describe('As `approvals.fourEyes`. Not set: as for all tenants.'),
});
const TenantSessionHooks = z.strictObject({
  commands: SessionHookSettings.shape.commands
    .removeDefault()
    .optional()
    .describe('As `sessionHooks.commands`. Not set: as for all tenants.'),
});

const Agents = z.record(Label, AgentSettings).default({});

const HeldNames = z.array(z.string().min(1).max(512)).max(1_000).optional();

/** Retention of data about a tenant's calls. Projectors read it if their TOOLYARD_CONFIG names the file. */
export const TenantRetention = z.strictObject({
  historyDays: z
    .union([z.int().min(1), z.literal('forever')], { error: 'expected a number of days, or "forever"' })
    .optional()
    .describe('Days after its end after which a call leaves lists and numbers. Not set: HISTORY_RETENTION_DAYS.'),
  archiveDays: z
    .union([z.int().min(1).max(36_500), z.literal('forever')], { error: 'expected 1 to 36500 days, or "forever"' })
    .optional()
    .describe(
      'Days after its end after which a call is deleted from the archive, with its large values: a segment when the days of all tenants in it are over. Lists lose it then, too. Not set: ARCHIVE_RETENTION_DAYS.',
    ),
  legalHold: z
    .boolean()
    .optional()
    .describe('`true`: nothing of the tenant is deleted or erased, however old it is: rows, archive, large values, keys.'),
  heldSessions: HeldNames.describe('Legal hold of these sessions only: nothing of their calls is deleted or erased.'),
  heldAgents: HeldNames.describe('Legal hold of the calls of these agents only.'),
  erasable: z
    .boolean()
    .optional()
    .describe(
      '`true`: the content of its new calls is encrypted in the archive, with a key for each call in the history database, so that it can be erased.',
    ),
});
export type TenantRetention = z.output<typeof TenantRetention>;

export const TenantSettings = z.strictObject({
  policy: PolicySettings.optional().describe('For the calls of its agents, on top of the policy for all tenants.'),
  posture: Posture.partial().optional().describe('How freely its calls may act, in sessions that do not say.'),
  limits: Limits.optional().describe('For the calls of its agents, on top of the limits for all tenants.'),
  hooks: Hooks.optional().describe('For its calls; they run after those for all tenants and before those of the agent.'),
  approvals: TenantApprovals.optional().describe('How approvals of its calls are given. Not set: as for all tenants.'),
  sessionHooks: TenantSessionHooks.optional().describe('What hooks of its sessions may be. Not set: as for all tenants.'),
  safety: TenantSafetySettings.optional().describe('Adds to `safety` for its calls, and takes nothing away.'),
  agents: Agents.describe('The agents of this tenant, by name.'),
  retention: TenantRetention.default({}).describe('How long its calls are kept.'),
  webhooks: Webhooks.describe('Programs that are sent the ends of its calls and its approvals.'),
});
export type TenantSettings = z.output<typeof TenantSettings>;
/** Rules for all calls of one tenant. */
export type TenantRules = Pick<TenantSettings, 'policy' | 'posture' | 'limits' | 'hooks' | 'approvals' | 'sessionHooks' | 'safety'>;

/** Tenant of TOOLYARD_API_KEY, and of the agents at the top level of the config file. */
export const DEFAULT_TENANT = 'default';

/** Checks the merged settings of a tenant, which workers read as one set with the bounds of `safety`. */
function checkTenantSafety(safety: SafetySettings, own: TenantSafetySettings, tenant: string, context: z.RefinementCtx): void {
  const together = SafetySettings.safeParse(withTenantSafety(safety, own));
  for (const { path, message } of together.error?.issues ?? [])
    context.addIssue({
      code: 'custom',
      path: ['tenants', tenant, 'safety', ...path],
      message: `${message}, together with safety.${path.join('.')}`,
    });
}

/** Checks that each name belongs to one source of a tenant, and to no tenant's source if all tenants share it. */
function checkSourceNames(sources: readonly SourceSettings[], context: z.RefinementCtx): void {
  for (const [index, { name, tenant }] of sources.entries()) {
    const first = sources.findIndex(
      (it) => it.name === name && (it.tenant === tenant || it.tenant === ALL_TENANTS || tenant === ALL_TENANTS),
    );
    if (first < index)
      context.addIssue({
        code: 'custom',
        path: [index, 'name'],
        message: `expected another name: sources[${first}] is called ${name} too`,
      });
  }
}

/** Fields of the file that TOOLYARD_CONFIG names, as YAML or JSON. All of them can be changed while a gateway runs. */
const ConfigFields = z.strictObject({
  $schema: z.string().optional().describe('For editors: the JSON Schema of this file.'),
  keys: z
    .array(ApiKeyConfig)
    .refine((entries) => new Set(entries.map((entry) => entry.id)).size === entries.length, 'expected a different `id` for every key')
    .refine((entries) => entries.every((entry) => entry.id !== 'bootstrap'), 'the id `bootstrap` belongs to TOOLYARD_API_KEY')
    .default([])
    .describe('The API keys.'),
  jwt: JwtIssuers,
  login: LoginSettings.optional().describe('People sign in to the dashboard with an OpenID provider. Not set: they need an API key.'),
  defaults: z
    .strictObject({ posture: Posture.partial().optional().describe('How freely calls may act.') })
    .default({})
    .describe('What holds for sessions that do not say.'),
  policy: PolicySettings.default({}).describe('What holds for the calls of all agents.'),
  approvals: ApprovalSettings.default({ fourEyes: false }).describe('How approvals are given.'),
  limits: Limits.default({}).describe('How many calls are taken, of all agents.'),
  hooks: Hooks.default([]).describe('For the calls of all agents, in this order.'),
  sessionHooks: SessionHookSettings.default({ commands: false }).describe('What hooks of sessions may be.'),
  safety: SafetySettings.prefault({}).describe('Secrets, hidden characters and alerts.'),
  sources: z
    .array(SourceSettings)
    .max(500)
    .superRefine(checkSourceNames)
    .superRefine(checkAgentTools)
    .default([])
    .describe('Where further tools come from. Tools of a source belong to its `tenant`; `*` offers them to all tenants.'),
  plugins: Plugins.describe(
    'npm packages with tools, for all tenants. Workers load them at their start, when their `TOOLYARD_CONFIG` names this file.',
  ),
  remoteHosts: RemoteHosts.describe(
    'Hosts over ssh on which commands of some calls run, by name. Gateways and workers read them at their start, when their `TOOLYARD_CONFIG` names this file.',
  ),
  sourceRules: SourceRules.prefault({}).describe('What sources that are added over HTTP may do.'),
  skills: SkillRoots,
  agents: Agents.describe('The agents of the tenant `default`, for short: the same as `tenants.default.agents`.'),
  tenants: z
    .record(Label, TenantSettings)
    .default({})
    .describe('What belongs to single tenants. The same name in two tenants means two agents.'),
});

export const ConfigFile = ConfigFields.superRefine(({ keys, agents, tenants, safety }, context) => {
  for (const [tenant, { safety: own }] of Object.entries(tenants)) if (own !== undefined) checkTenantSafety(safety, own, tenant, context);
  const theirs = (tenant: string) => tenants[tenant]?.agents ?? {};
  for (const name of Object.keys(theirs(DEFAULT_TENANT)))
    if (Object.hasOwn(agents, name))
      context.addIssue({
        code: 'custom',
        path: ['agents', name],
        message: `expected the agent here or in tenants.${DEFAULT_TENANT}, not in both`,
      });
  for (const [index, { id, tenant, agent, agents: globs = [] }] of keys.entries()) {
    if (tenant === DEFAULT_TENANT) continue;
    for (const name of new Set([...(agent === undefined ? [] : [agent]), ...globs]))
      if (Object.hasOwn(agents, name) && !Object.hasOwn(theirs(tenant), name))
        context.addIssue({
          code: 'custom',
          path: ['keys', index, agent === name ? 'agent' : 'agents'],
          message: `the key ${id} of the tenant ${tenant} acts for the agent ${name}, but agents.${name} belongs to the tenant ${DEFAULT_TENANT}: expected it in tenants.${tenant}.agents.${name}`,
        });
  }
});
export type ConfigFile = z.output<typeof ConfigFile>;
