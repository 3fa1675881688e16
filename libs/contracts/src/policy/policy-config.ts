import { z } from 'zod';
import { CommandPolicy } from './command-policy.js';
import { ExecutionPolicy } from './execution-policy.js';
import { EgressRules, PathPolicy } from './path-policy.js';
import { PolicyProfile } from './profile.js';
import { ToolFeature } from '../tools/tool.js';
import { ToolSettings } from './tool-settings.js';
import { ToolName } from '../values/names.js';

/**
 * Order of hooks `before` a call among the other steps that may stop it.
 * - `permission_hooks_approval`: for calls that policy does not deny, before the approval request
 * - `permission_approval_hooks`: after a person's approval; they may only reject the call then, since the approved arguments
 *   run
 * - `hooks_permission_approval`: before the policy, so also for calls that it denies
 */
export const HookOrder = z
  .enum(['permission_hooks_approval', 'permission_approval_hooks', 'hooks_permission_approval'])
  .meta({ id: 'HookOrder' });
export type HookOrder = z.output<typeof HookOrder>;

/**
 * Tool pattern: a name or alias, a glob of names (`file_*`), `*` (all), `@builtin` or `@builtin/x` (built-in tools), `@mcp`
 * (all others), `@source` or `@source/x` (one source and its tools; `x` may be a glob). Names of built-in tools in known agents
 * are accepted too: a forbidding list covers every tool that one of them means by the name.
 */
export const ToolPattern = z
  .string()
  .min(1)
  .max(200)
  .meta({ id: 'ToolPattern', description: 'The name of a tool, here or in a known agent (`Bash`), or a glob of names.' });

/** Full name of a tool: `@source/tool`, or `tool` or `@builtin/tool` for a built-in one. No glob. */
const FullToolName = z
  .string()
  .regex(
    /^(?:@[a-z][a-z0-9-]{0,31}\/)?[A-Za-z][A-Za-z0-9_-]{0,63}$/,
    'expected the full name of one tool: @source/tool, or tool where it is built in',
  );

/** Names for the agent by full name. */
const ToolAliases = z
  .record(FullToolName, ToolName)
  .refine((aliases) => new Set(Object.values(aliases)).size === Object.keys(aliases).length, 'expected a different name for each tool');

/** Complete rules for the calls of one agent. `PolicySettings` is their form in files; absent fields come from the profile. */
export const PolicyConfig = z
  .strictObject({
    profile: PolicyProfile.describe('The rules and texts to start from: of a known agent, or `core`, our own.'),
    tools: z.array(ToolPattern).describe('What exists for the agent at all. Checked again at each call.'),
    include: z.array(ToolPattern).describe('Also available, whatever `tools` says.'),
    exclude: z
      .array(ToolPattern)
      .describe(
        'Never available, whatever the others say. `shell` also means `repl`, `powershell` and `aws`; `@builtin/shell` is `shell` alone.',
      ),
    deferredTools: z
      .array(ToolPattern)
      .describe('Left out of the lists for models until `tool_search` finds them in the session. They can be called in any case.'),
    allowedTools: z
      .array(ToolPattern)
      .describe('These run without asking, unless a rule denies, or a file is written that later commands run (`paths.trusted`).'),
    gatePrivileged: z.boolean().describe('Every privileged call is asked for, in every mode.'),
    webTools: z.boolean().describe('False: no tool of the web is available.'),
    features: z.array(ToolFeature).describe('Tools that are switched off where this does not name them: `session_management`.'),
    hookOrder: HookOrder.describe('Whether hooks before a call run before a person is asked or after.'),
    trustModelApproval: z.boolean().describe("An argument `approved: true` of the model counts as a person's approval."),
    toolAliases: ToolAliases.describe(
      'Names for tools, by their full names: `{"@git/run": "git_run"}`. The catalog shows the tool under this name, and calls may use it, whatever else has it: another tool is then shown as `source__tool`, or not at all where it is built in. Rules name the tool as before.',
    ),
    toolsSettings: z
      .record(ToolPattern, ToolSettings)
      .describe('By tool pattern. Of several that mean a tool each later one lies on top of the earlier.'),
    execution: ExecutionPolicy.describe('How batches run and how results are cut.'),
    commands: CommandPolicy.describe('Which commands run, are asked for or refused.'),
    paths: PathPolicy.describe('Which files calls may open.'),
    egress: EgressRules.describe('Which hosts tools may reach.'),
  })
  .meta({ id: 'PolicyConfig' });
export type PolicyConfig = z.output<typeof PolicyConfig>;

/** Policy in a config file: any part. Forbidding lists of several files or agents are merged; all else is replaced. */
export const PolicySettings = z
  .strictObject({
    ...PolicyConfig.omit({ execution: true, commands: true, paths: true, egress: true }).shape,
    execution: ExecutionPolicy.partial().describe('How batches run and how results are cut.'),
    commands: CommandPolicy.partial().describe('Which commands run, are asked for or refused.'),
    paths: PathPolicy.partial().describe('Which files calls may open.'),
    egress: EgressRules.partial().describe('Which hosts tools may reach.'),
  })
  .partial()
  .meta({ id: 'PolicySettings' });
export type PolicySettings = z.output<typeof PolicySettings>;
