import { NO_GRANTS, POLICY_PROFILES, type PolicyProfile, type PolicySettings, type Posture, type SessionGrants } from '#contracts';
import type { CallFacts, ToolFacts } from '../call-facts.js';
import { resolvePolicy } from '../grants/resolve-policy.js';

export const WORKSPACE = '/data/t/sessions/s';
export const SUPERVISED: Posture = { autonomy: 'supervised', permissionMode: 'workspace-write' };
export const UNATTENDED: Posture = { autonomy: 'full', permissionMode: 'danger-full-access' };

const tool = (facts: Partial<ToolFacts> & { name: string }): ToolFacts => ({
  aliases: [],
  source: 'builtin',
  pool: 'read',
  tier: 'read_only',
  effect: 'pure',
  subjects: [],
  ...facts,
});

export const TOOLS = {
  echo: tool({ name: 'echo' }),
  shell: tool({
    name: 'shell',
    aliases: ['bash', 'shell_exec'],
    tier: 'privileged',
    effect: 'once',
    subjects: [
      { kind: 'command', argument: 'command' },
      { kind: 'path', argument: 'working_dir', access: 'read' },
    ],
  }),
  repl: tool({
    name: 'repl',
    tier: 'privileged',
    effect: 'once',
    subjects: [{ kind: 'command', argument: 'code', languageArgument: 'language' }],
  }),
  powershell: tool({
    name: 'powershell',
    tier: 'privileged',
    effect: 'once',
    subjects: [{ kind: 'command', argument: 'command', language: 'powershell' }],
  }),
  file_read: tool({ name: 'file_read', aliases: ['read', 'fs_read'], subjects: [{ kind: 'path', argument: 'path', access: 'read' }] }),
  file_write: tool({
    name: 'file_write',
    aliases: ['write', 'fs_write'],
    tier: 'side_effecting',
    effect: 'idempotent',
    subjects: [{ kind: 'path', argument: 'path', access: 'write' }],
  }),
  web_fetch: tool({ name: 'web_fetch', tier: 'side_effecting', effect: 'idempotent', subjects: [{ kind: 'url', argument: 'url' }] }),
  aws: tool({
    name: 'aws',
    aliases: ['use_aws'],
    tier: 'privileged',
    effect: 'once',
    subjects: [
      {
        kind: 'operation',
        argument: 'operation',
        service: 'service',
        readOnly: ['list-*', 'get-*'],
        exceptions: ['get-secret-*', 'sts:get-session-*'],
        readOnlyTargets: { argument: 'targets', globs: ['s3://*'] },
      },
    ],
  }),
  crew: tool({ name: 'crew', tier: 'privileged', effect: 'once', subjects: [{ kind: 'agent', argument: 'stages', field: 'role' }] }),
  git_status: tool({ name: 'status', source: 'git' }),
} satisfies Record<string, ToolFacts>;

export interface Circumstances {
  readonly posture?: Posture;
  readonly profile?: PolicyProfile;
  readonly policy?: PolicySettings;
  readonly grants?: Partial<SessionGrants>;
}

export function factsOf(
  name: keyof typeof TOOLS,
  args: Record<string, unknown>,
  { posture = SUPERVISED, profile, policy, grants }: Circumstances = {},
): CallFacts {
  const base = profile === undefined ? {} : { profile: POLICY_PROFILES[profile].profile };
  return {
    tool: TOOLS[name],
    args,
    posture,
    policy: resolvePolicy(base, policy),
    grants: { ...NO_GRANTS, ...grants },
    workspaceRoot: WORKSPACE,
  };
}
