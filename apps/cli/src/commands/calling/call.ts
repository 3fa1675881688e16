import { shortCallId, type Dialect } from '#contracts';
import type { Submission } from '#client';
import type { CommandContext } from '../../command-context.js';
import { followCall } from '../../follow-call.js';
import { argumentsOf } from '../../tool-arguments.js';
import { parseDuration } from '../../terminal/time-text.js';
import { UsageError } from '../../usage-error.js';

export interface SubmitFlags {
  readonly session?: string;
  readonly agent?: string;
  readonly user?: string;
  readonly dialect?: Dialect;
  readonly priority?: 'high' | 'normal' | 'low';
  readonly timeout?: string;
  readonly label?: readonly string[];
  readonly toolCallId?: string;
}

export interface CallFlags extends SubmitFlags {
  readonly idempotencyKey?: string;
  /** `--no-wait` */
  readonly wait: boolean;
}

/** Submits a call, shows it until its end, and exits with its outcome. */
export async function call(context: CommandContext, tool: string, words: readonly string[], flags: CallFlags): Promise<number> {
  const submission = await submissionOf(context, tool, words, flags);
  const { id } = await context.client.calls.submit(submission, { idempotencyKey: flags.idempotencyKey });
  return submitted(context, id, flags.wait);
}

/** Runs an ended call again, with other arguments if given. */
export async function replay(
  context: CommandContext,
  callId: string,
  words: readonly string[],
  flags: { readonly wait: boolean },
): Promise<number> {
  const fitted = words.length === 0 ? undefined : await argumentsOf(context, (await context.client.calls.get(callId)).tool, words);
  const { id } = await context.client.calls.replay(callId, fitted === undefined ? {} : { arguments: fitted });
  return submitted(context, id, flags.wait);
}

/** The submission that the command line describes. */
export async function submissionOf(
  context: CommandContext,
  tool: string,
  words: readonly string[],
  flags: SubmitFlags,
): Promise<Submission> {
  const { session, agent, user, dialect, priority, timeout, label = [], toolCallId } = flags;
  return {
    tool,
    arguments: await argumentsOf(context, tool, words, dialect),
    sessionId: session,
    agentId: agent,
    userId: user,
    dialect,
    priority,
    ...(timeout === undefined ? {} : { timeouts: { runMs: parseDuration(timeout) } }),
    ...(toolCallId === undefined ? {} : { toolCallId }),
    labels: Object.fromEntries(label.map(labelOf)),
  };
}

async function submitted(context: CommandContext, callId: string, wait: boolean): Promise<number> {
  if (wait) {
    // Id for use in another terminal; programs have it in --json.
    if (!context.json && context.terminal.live) context.terminal.note(`call ${shortCallId(callId)}`, 'dim');
    return followCall(context, callId);
  }
  if (context.json) context.terminal.json(await context.client.calls.get(callId));
  else context.terminal.line(callId);
  return 0;
}

function labelOf(text: string): [string, string] {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined) throw new UsageError(`--label: expected name=value, got ${JSON.stringify(text)}`);
  return [name, value];
}
