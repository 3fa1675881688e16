import { z } from 'zod';
import { CallOutcome } from '../calls/call.js';
import { Json } from '../values/json.js';
import { Label } from '../values/names.js';
import { ToolPattern } from '../policy/policy-config.js';

/**
 * Time of a hook's run.
 * - `before`: in the gateway, after the policy unless it denies the call, and before an approval request; may reject the call
 *   or rewrite its arguments
 * - `after`: in the worker, after the tool and before End is written; may add to the model's text or flag it as an error
 * - `after_end`: in the worker, after End is written; observes only
 * - `before_update`, `after_update`: in the worker, around each update for watchers; the first may suppress it
 */
export const HookEvent = z
  .enum(['before', 'after', 'after_end', 'before_update', 'after_update'], {
    error:
      'expected before, after, after_end, before_update or after_update; hooks of prompts and sessions belong to the agent, which is not run here',
  })
  .meta({
    id: 'HookEvent',
    description:
      'When a hook runs. `before`: in the gateway, before a person is asked; `after`: in the worker, when the tool has answered and before End is written; `after_end`: when End is written; `before_update`, `after_update`: around each update for watchers.',
  });
export type HookEvent = z.output<typeof HookEvent>;

export const EnvName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, 'expected the name of an environment variable, not its value');

/** Fields of every kind of hook. */
const common = {
  name: Label.describe('Names the hook in events, reasons and logs.'),
  on: HookEvent.describe('When it runs.'),
  match: z.array(ToolPattern).min(1).max(100).default(['*']).describe('Patterns of the tools that it concerns.'),
  timeoutMs: z.number().int().min(1).max(60_000).default(10_000).describe('Longest run in milliseconds: 1 to 60,000.'),
  maxOutputBytes: z
    .number()
    .int()
    .min(1)
    .max(1_048_576)
    .default(10_240)
    .describe(
      `Of each stream of a command and of a webhook's answer: 1 to 1,048,576. More is cut off a text, and makes an answer in JSON a failure.`,
    ),
  cacheMs: z
    .number()
    .int()
    .min(0)
    .max(86_400_000)
    .default(0)
    .describe(
      'How long an answer holds for the same session, tool and arguments (`after`: and result), on every worker and gateway, in milliseconds: at most 86,400,000. 0: not at all.',
    ),
  onError: z.enum(['allow', 'deny']).default('allow').describe('What a hook that fails, takes too long or answers nonsense counts as.'),
};

/** Absolute http or https URL; names and passwords belong in `headersEnv`. */
export const HookUrl = z
  .url({ protocol: /^https?$/, error: 'expected an absolute http or https URL' })
  .max(2_048)
  .refine(
    (url) => !/^[a-z]+:\/\/[^/?#]*@/i.test(url),
    'expected a URL without a name and password: a header of `headersEnv` keeps them out of the file',
  );
/** Command for `sh -c`. */
const Command = z.string().min(1).max(8_192);
const ONE_KIND = 'expected exactly one of command, url and module';

/** Hook in the operator's config file. Has exactly one of `command`, `url` and `module`. */
export const Hook = z
  .strictObject({
    ...common,
    command: Command.optional().describe('Run by `sh -c`. Exactly one of `command`, `url` and `module`.'),
    env: z
      .array(EnvName)
      .max(64)
      .optional()
      .describe('Names of variables of the process that the command sees, besides PATH and the like. Absent = none.'),
    directory: z
      .enum(['process', 'workspace'])
      .optional()
      .describe(
        "Where a command of `after` and the update hooks runs: where the worker runs, or in the session's files. Absent = `process`.",
      ),
    url: HookUrl.optional().describe('Where the hook is asked: an absolute http or https URL without a name and password.'),
    secretEnv: EnvName.optional().describe(
      'The variable with the key that signs each request (Standard Webhooks; `whsec_` and base64, or any text). Absent = requests are not signed.',
    ),
    headersEnv: z
      .record(z.string().regex(/^[A-Za-z0-9-]{1,64}$/, 'expected the name of a header'), EnvName)
      .optional()
      .describe('Header → the variable with its value. Absent = none.'),
    module: z
      .string()
      .startsWith('/', 'expected an absolute path')
      .max(4_096)
      .optional()
      .describe('Absolute path of an ES module whose default export is called in the process itself: `(input, { signal }) => verdict`.'),
    secrets: z
      .boolean()
      .default(false)
      .describe(
        'The hook gets the arguments as they were submitted, secrets and all; without it, with `[REDACTED]` in place of each secret.',
      ),
  })
  .refine(({ command, url, module }) => [command, url, module].filter((it) => it !== undefined).length === 1, ONE_KIND)
  .refine(
    ({ command, env, directory }) => command !== undefined || (env ?? directory) === undefined,
    '`env` and `directory` belong to `command`',
  )
  .refine(
    ({ url, secretEnv, headersEnv }) => url !== undefined || (secretEnv ?? headersEnv) === undefined,
    '`secretEnv` and `headersEnv` belong to `url`',
  )
  .refine(
    ({ on, directory }) => on !== 'before' || directory !== 'workspace',
    'hooks before a call run in the gateway, which has no workspace',
  )
  .meta({ id: 'Hook', description: 'A hook as the config file has it. Exactly one of `command`, `url` and `module`.' });
export type Hook = z.output<typeof Hook>;

/** Hook of a session, which gets nothing of the operator's environment. `command` only if the config file allows it. */
export const SessionHook = z
  .strictObject({
    ...common,
    url: HookUrl.optional().describe(
      'Where the hook is asked: an http or https URL with a public address. Exactly one of `url` and `command`.',
    ),
    command: Command.optional().describe('Run by `sh -c`. Only where the config file allows session hooks to be commands.'),
  })
  .refine(({ command, url }) => (command === undefined) !== (url === undefined), 'expected exactly one of url and command')
  .meta({ id: 'SessionHook', description: 'A hook that a session brings along. Exactly one of `url` and `command`.' });
export type SessionHook = z.output<typeof SessionHook>;

const differentNames = (hooks: readonly { readonly name: string }[]) => new Set(hooks.map(({ name }) => name)).size === hooks.length;
const DIFFERENT_NAMES = 'expected a different `name` for every hook';

export const Hooks = z.array(Hook).max(50).refine(differentNames, DIFFERENT_NAMES);
export const SessionHooks = z.array(SessionHook).max(20).refine(differentNames, DIFFERENT_NAMES);

/** Hooks that sessions may define. */
export const SessionHookSettings = z.strictObject({
  commands: z
    .boolean()
    .default(false)
    .describe('Session hooks may be commands: a key that may write sessions then runs programs on gateways and workers.'),
});
export type SessionHookSettings = z.output<typeof SessionHookSettings>;

/**
 * Active hook of a call, already matched, ready to run anywhere. `by` limits its rights: a session's webhook reaches public
 * addresses only.
 */
export const AppliedHook = z.object({ ...Hook.shape, by: z.enum(['operator', 'session']) });
export type AppliedHook = z.output<typeof AppliedHook>;

/** Hooks of a call that its worker runs, stored by digest. */
export const HookSet = z.array(AppliedHook);
export type HookSet = z.output<typeof HookSet>;

/**
 * Verdict of a hook, as JSON on its standard output, in its HTTP response, or as its function's result. Without one the hook
 * counts as an observer.
 */
export const HookVerdict = z
  .strictObject({
    decision: z
      .enum(['allow', 'deny'], { error: 'expected allow or deny' })
      .optional()
      .describe('Whether the call may go on. Absent: the hook only watched.'),
    reason: z.string().optional().describe('Why, for people and the model.'),
    arguments: z
      .record(z.string(), Json)
      .optional()
      .describe(
        '`before`: the arguments to go on with, all of them. A text or key with `[REDACTED]` that comes back unchanged at its path means the original one; `[REDACTED]` anywhere else makes the call fail with `hook_rejected`.',
      ),
    feedback: z.string().optional().describe('`after`: for the model, below the output of the tool.'),
  })
  .meta({ id: 'HookVerdict', description: 'What a hook answers. A field that is absent is as if the hook had only watched.' });
export type HookVerdict = z.output<typeof HookVerdict>;

/**
 * Input of a hook: on standard input, as the body of its request, or as the first argument of its function. Has the field names
 * that hooks of other agents expect, and our own.
 */
export const HookInput = z
  .object({
    hook_event_name: z.string().describe('The name of the event as hooks of other agents expect it, such as `PreToolUse`.'),
    event: HookEvent.describe('When the hook runs.'),
    hook: z.string().describe('The name of the hook.'),
    cwd: z.string().describe('The workspace of the call.'),
    session_id: z.string().optional().describe('The session of the call. Absent without one.'),
    tool_name: z.string().describe('Canonical name of the tool.'),
    tool_input: Json.describe('The arguments. Secrets are `[REDACTED]` unless the hook says `secrets` in the config file.'),
    outcome: CallOutcome.optional().describe('`after_end`: how the call ended.'),
    tool_response: z
      .object({
        text: z.string().describe('Its text items, joined by line feeds.'),
        is_error: z.boolean().describe('Whether the model reads it as an error.'),
        structured: Json.optional().describe('The same for programs. Absent for a tool without an output schema.'),
      })
      .optional()
      .describe('`after`, `after_end`: what the tool answered.'),
    update: z
      .object({ text: z.string().describe('Its text items, joined by line feeds.') })
      .optional()
      .describe('Around updates: what watchers get.'),
    call_id: z.string().describe('The call.'),
    tenant_id: z.string().describe('The owner of the call.'),
    agent_id: z.string().optional().describe('The agent that made the call. Absent without one.'),
    tool_call_id: z.string().optional().describe('The id that the model gave to its tool call. Absent if the submission named none.'),
    purpose: z.string().optional().describe('What the model wrote that the call is for. Absent if nothing.'),
    attempt: z.number().int().optional().describe('Number of the attempt. Absent before the first.'),
  })
  .meta({ id: 'HookInput', description: 'What a hook gets to know.' });
export type HookInput = z.output<typeof HookInput>;
