import { z } from 'zod';
import { CallOutcome } from '../calls/call.js';
import { Json } from '../calls/json.js';
import { Label } from '../calls/names.js';
import { ToolPattern } from '../policy/policy-config.js';

/**
 * When a hook runs.
 * - `before`: in the gateway, when policy has not denied the call and before a person is asked; may refuse the call or rewrite its arguments
 * - `after`: in the worker, when the tool has answered and before End is written; may add to what the model reads or flag it as an error
 * - `after_end`: in the worker, when End is written; watches only
 * - `before_update`, `after_update`: in the worker, around each update for watchers; the first may suppress it
 */
export const HookEvent = z
  .enum(['before', 'after', 'after_end', 'before_update', 'after_update'], {
    error:
      'expected before, after, after_end, before_update or after_update; hooks of prompts and sessions belong to the agent, which is not run here',
  })
  .meta({ id: 'HookEvent' });
export type HookEvent = z.output<typeof HookEvent>;

const EnvName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, 'expected the name of an environment variable, not its value');

/** What any hook says, whatever it runs. */
const common = {
  name: Label,
  on: HookEvent,
  /** Tools that it concerns. */
  match: z.array(ToolPattern).min(1).max(100).default(['*']),
  timeoutMs: z.number().int().min(1).max(60_000).default(10_000),
  /** Of each stream of a command and of a webhook's answer; more is cut off a text, and makes an answer in JSON a failure. */
  maxOutputBytes: z.number().int().min(1).max(1_048_576).default(10_240),
  /** How long an answer holds for the same session, tool and arguments (`after`: and result), on every worker and gateway. 0: not at all. */
  cacheMs: z.number().int().min(0).max(86_400_000).default(0),
  /** What a hook that fails, takes too long or answers nonsense counts as. */
  onError: z.enum(['allow', 'deny']).default('allow'),
};

/** Absolute, http or https; names and passwords belong into `headersEnv`. */
const HookUrl = z
  .url({ protocol: /^https?$/, error: 'expected an absolute http or https URL' })
  .max(2_048)
  .refine(
    (url) => !/^[a-z]+:\/\/[^/?#]*@/i.test(url),
    'expected a URL without a name and password: a header of `headersEnv` keeps them out of the file',
  );
/** Run by `sh -c`. */
const Command = z.string().min(1).max(8_192);
const ONE_KIND = 'expected exactly one of command, url and module';

/** A hook as the operator's config file has it. Exactly one of `command`, `url` and `module`. */
export const Hook = z
  .strictObject({
    ...common,
    command: Command.optional(),
    /** Variables of the process that the command sees, besides PATH and the like. */
    env: z.array(EnvName).max(64).optional(),
    /** Where a command of `after` and the update hooks runs: where the worker runs, or in the session's files. */
    directory: z.enum(['process', 'workspace']).optional(),
    url: HookUrl.optional(),
    /** The variable with the key that signs each request (Standard Webhooks; `whsec_` and base64, or any text). */
    secretEnv: EnvName.optional(),
    /** Header → the variable with its value. */
    headersEnv: z.record(z.string().regex(/^[A-Za-z0-9-]{1,64}$/, 'expected the name of a header'), EnvName).optional(),
    /** An ES module whose default export is called in the process itself: `(input, { signal }) => verdict`. */
    module: z.string().startsWith('/', 'expected an absolute path').max(4_096).optional(),
    /** The hook gets the arguments as they were submitted, secrets and all; without it, with `[REDACTED]` in place of each secret. */
    secrets: z.boolean().default(false),
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
  .meta({ id: 'Hook' });
export type Hook = z.output<typeof Hook>;

/** A hook that a session brings along: nothing of the operator's environment reaches it. `command` only where the config file allows it. */
export const SessionHook = z
  .strictObject({ ...common, url: HookUrl.optional(), command: Command.optional() })
  .refine(({ command, url }) => (command === undefined) !== (url === undefined), 'expected exactly one of url and command')
  .meta({ id: 'SessionHook' });
export type SessionHook = z.output<typeof SessionHook>;

const differentNames = (hooks: readonly { readonly name: string }[]) => new Set(hooks.map(({ name }) => name)).size === hooks.length;
const DIFFERENT_NAMES = 'expected a different `name` for every hook';

export const Hooks = z.array(Hook).max(50).refine(differentNames, DIFFERENT_NAMES);
export const SessionHooks = z.array(SessionHook).max(20).refine(differentNames, DIFFERENT_NAMES);

/** What sessions may bring along. */
export const SessionHookSettings = z.strictObject({
  /** Session hooks may be commands: a key that may write sessions then runs programs on gateways and workers. */
  commands: z.boolean().default(false),
});
export type SessionHookSettings = z.output<typeof SessionHookSettings>;

/**
 * A hook as it was in force for a call, ready to be run anywhere: matched already. `by` tells whom it may trust: a
 * session's webhook reaches public addresses only.
 */
export const AppliedHook = z.object({ ...Hook.shape, by: z.enum(['operator', 'session']) });
export type AppliedHook = z.output<typeof AppliedHook>;

/** The hooks of a call that its worker runs, as they are stored by their digest. */
export const HookSet = z.array(AppliedHook);
export type HookSet = z.output<typeof HookSet>;

/**
 * What a hook answers, as JSON on its standard output, in the answer to its request, or as what its function returns.
 * Anything not there is as if the hook had only watched.
 */
export const HookVerdict = z
  .strictObject({
    decision: z.enum(['allow', 'deny'], { error: 'expected allow or deny' }).optional(),
    reason: z.string().optional(),
    /**
     * `before`: the arguments to go on with, all of them. A text or key with `[REDACTED]` that comes back unchanged at its
     * path means the original one; `[REDACTED]` anywhere else makes the call fail with `hook_rejected`.
     */
    arguments: z.record(z.string(), Json).optional(),
    /** `after`: for the model, below the output of the tool. */
    feedback: z.string().optional(),
  })
  .meta({ id: 'HookVerdict' });
export type HookVerdict = z.output<typeof HookVerdict>;

/**
 * What a hook gets to know: on standard input, as the body of its request, or as the first argument of its function. The
 * names are those that hooks of other agents expect, and ours beside them.
 */
export const HookInput = z
  .object({
    hook_event_name: z.string(),
    event: HookEvent,
    hook: z.string(),
    cwd: z.string(),
    session_id: z.string().optional(),
    tool_name: z.string(),
    /** Secrets are `[REDACTED]` unless the hook says `secrets` in the config file. */
    tool_input: Json,
    /** `after_end`: how the call ended. */
    outcome: CallOutcome.optional(),
    /** `after`, `after_end`: what the tool answered. */
    tool_response: z.object({ text: z.string(), is_error: z.boolean(), structured: Json.optional() }).optional(),
    /** Around updates: their text items, joined by line feeds. */
    update: z.object({ text: z.string() }).optional(),
    call_id: z.string(),
    tenant_id: z.string(),
    agent_id: z.string().optional(),
    tool_call_id: z.string().optional(),
    purpose: z.string().optional(),
    attempt: z.number().int().optional(),
  })
  .meta({ id: 'HookInput' });
export type HookInput = z.output<typeof HookInput>;
