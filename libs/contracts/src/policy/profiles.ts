import type { CommandPolicy } from './command-policy.js';
import type { EgressRules, PathPolicy } from './path-policy.js';
import { MODEL_OUTPUT_CAP, type ExecutionPolicy } from './execution-policy.js';
import type { Limits } from './limits.js';
import type { PolicyConfig } from './policy-config.js';
import type { PolicyProfile } from './profile.js';
import type { ToolSettings } from './tool-settings.js';

/** Texts that no command may contain if the engine `deny-patterns` is active. */
const DENY_PATTERNS = ['rm -rf /', 'rm -rf /*', 'mkfs', 'dd if=', ':(){ :|:& };:'];

const CORE_ALLOWLIST =
  'awk cat cargo cp cut echo env find git go grep head ls mkdir mv node printf pwd python python3 rustc sed sort stat tail touch tr uniq wc which'.split(
    ' ',
  );

const commands: CommandPolicy = {
  engines: ['single', 'rules'],
  enforce: 'attended',
  allowlist: CORE_ALLOWLIST,
  unlisted: 'ask',
  allowedCommands: [],
  deniedCommands: [],
  denyByDefault: false,
  autoAllowReadonly: false,
  denyPatterns: DENY_PATTERNS,
  classify: true,
  blockHighRisk: false,
  askMediumRisk: true,
};

const paths: PathPolicy = { workspaceOnly: false, roots: [], forbidden: [], trusted: [], trustWorkspace: true, outside: 'ask' };

const egress: EgressRules = { mode: 'default', allowedDomains: ['*'], blockedDomains: [], privateHosts: [] };

const execution: ExecutionPolicy = { strategy: { type: 'tiered' }, onFailure: 'isolate', strictArguments: true, resultBytes: 16_384 };
const PARALLEL = { type: 'parallel', serializeSideEffects: false } as const;
const SEQUENTIAL = { type: 'sequential' } as const;

const core: PolicyConfig = {
  profile: 'core',
  tools: ['*'],
  include: [],
  exclude: [],
  deferredTools: [],
  allowedTools: [],
  gatePrivileged: false,
  webTools: true,
  features: [],
  hookOrder: 'permission_hooks_approval',
  trustModelApproval: false,
  toolAliases: {},
  toolsSettings: {},
  execution,
  commands,
  paths,
  egress,
};

const builtin = (names: string, settings: ToolSettings): Record<string, ToolSettings> =>
  Object.fromEntries(names.split(' ').map((name) => [`@builtin/${name}`, settings]));

/** Default time of commands: the longest allowed. */
const LONGEST_COMMAND = builtin('shell', { defaults: { timeout_ms: 600_000 } });

/** Tools of claw with its tiers, by its names. */
const CLAW_TOOLS = {
  ...builtin('read_file glob_search grep_search WebFetch WebSearch Skill ToolSearch Sleep SendUserMessage StructuredOutput', {
    tier: 'read_only',
  }),
  ...builtin('write_file edit_file TodoWrite NotebookEdit Config', { tier: 'side_effecting' }),
  ...builtin('bash Agent REPL PowerShell', { tier: 'privileged' }),
  ...LONGEST_COMMAND,
};

const PHI_TOOLS = {
  ...builtin('bash', { defaults: { timeout_ms: 120_000 } }),
  ...builtin('list_files', { timeoutMs: 10_000 }),
  ...builtin('search', { timeoutMs: 30_000 }),
};

const OXYDRA_TOOLS = {
  ...builtin('file_read file_list', { tier: 'read_only', timeoutMs: 10_000 }),
  ...builtin('file_search', { tier: 'read_only', timeoutMs: 20_000 }),
  ...builtin('memory_search', { tier: 'read_only', timeoutMs: 15_000 }),
  ...builtin('file_write file_edit file_delete', { tier: 'side_effecting', timeoutMs: 15_000 }),
  ...builtin('web_fetch web_search vault_copyto', { tier: 'side_effecting', timeoutMs: 30_000 }),
  ...builtin('memory_save memory_update memory_delete', { tier: 'side_effecting', timeoutMs: 10_000 }),
  ...builtin('shell_exec', { tier: 'privileged', defaults: { timeout_ms: 30_000 } }),
};

/** Tools of kiro, including those that it runs without approval. */
const KIRO_TOOLS = {
  ...LONGEST_COMMAND,
  ...builtin('introspect summary switch_to_execution task session', { autoAllow: true }),
  ...builtin('code', {
    allowedServices:
      'search_symbols lookup_symbols get_document_symbols pattern_search generate_codebase_overview search_codebase_map find_references goto_definition get_hover get_completions get_diagnostics initialize_workspace'.split(
        ' ',
      ),
  }),
};

/** Limits of a profile, unless the file or the agent sets others. */
export const PROFILE_LIMITS: Readonly<Partial<Record<PolicyProfile, Limits>>> = {
  zeroclaw: { actionsPerHour: 20, costPerDayCents: 500 },
};

/** Rules without engines and classes: the session's posture alone decides about commands. */
const noCommandRules: CommandPolicy = { ...commands, engines: [], classify: false };

const FORBIDDEN_PATHS = '/etc /root /home /usr /bin /sbin /lib /opt /boot /dev /proc /sys /var /tmp ~/.ssh ~/.gnupg ~/.aws ~/.config'.split(
  ' ',
);

/**
 * Presets: the settings until a configuration overrides them. `core` is our own default: it requires approval if a person is
 * available, and lets unattended sessions (full autonomy with full access) run everything that no rule denies.
 */
export const POLICY_PROFILES: Readonly<Record<PolicyProfile, PolicyConfig>> = {
  core,
  zeroclaw: {
    ...core,
    profile: 'zeroclaw',
    trustModelApproval: true,
    toolsSettings: builtin('shell', { defaults: { timeout_ms: 60_000 } }),
    execution: { ...execution, strategy: SEQUENTIAL, strictArguments: false, resultBytes: MODEL_OUTPUT_CAP },
    commands: {
      ...commands,
      engines: ['segments'],
      enforce: 'always',
      allowlist: 'git npm cargo ls cat grep find echo pwd wc head tail date'.split(' '),
      unlisted: 'deny',
      blockHighRisk: true,
    },
    paths: { ...paths, workspaceOnly: true, forbidden: FORBIDDEN_PATHS, outside: 'deny' },
  },
  claw: {
    ...core,
    profile: 'claw',
    hookOrder: 'permission_approval_hooks',
    commands: noCommandRules,
    toolsSettings: CLAW_TOOLS,
    execution: { ...execution, strategy: SEQUENTIAL, resultBytes: MODEL_OUTPUT_CAP },
  },
  phi: {
    ...core,
    profile: 'phi',
    hookOrder: 'hooks_permission_approval',
    toolsSettings: PHI_TOOLS,
    execution: { ...execution, strategy: PARALLEL, strictArguments: false, resultBytes: MODEL_OUTPUT_CAP },
    commands: { ...noCommandRules, engines: ['deny-patterns'], enforce: 'always' },
  },
  oxydra: {
    ...core,
    profile: 'oxydra',
    commands: { ...noCommandRules, engines: ['single'], enforce: 'always', unlisted: 'deny' },
    paths: { ...paths, outside: 'deny' },
    toolsSettings: OXYDRA_TOOLS,
    execution: { ...execution, strictArguments: false },
  },
  kiro: {
    ...core,
    profile: 'kiro',
    toolsSettings: KIRO_TOOLS,
    execution: { strategy: PARALLEL, onFailure: 'abort', strictArguments: false, resultBytes: MODEL_OUTPUT_CAP },
    commands: { ...noCommandRules, engines: ['rules'], enforce: 'always' },
  },
};
