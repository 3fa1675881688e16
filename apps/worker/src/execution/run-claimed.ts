import type { Claimed } from '#event-log';
import { ToolFailure, type ToolContext } from '#tools';
import type { Attempt } from './attempt.js';
import type { ExecuteDeps } from './execute-call.js';
import { readArguments } from './read-arguments.js';
import { runTool, type RunEnd } from './run-tool.js';
import type { UpdateStream } from './update-stream.js';

type RunDeps = Pick<ExecuteDeps, 'blobs' | 'clock' | 'config' | 'logger' | 'tools' | 'workspaces'>;

/** Everything of an attempt that may fail or take long, under its run deadline. Never rejects: all of it ends as a RunEnd. */
export async function runClaimed(attempt: Attempt, claimed: Claimed, updates: UpdateStream, deps: RunDeps): Promise<RunEnd> {
  const { tool } = claimed.meta;
  const callOffDeadline = deps.clock.after(claimed.runMs, () => attempt.stop('run_timeout'));
  try {
    const ran = await runTool(async () => {
      if (!deps.tools.resolve(tool)) throw new ToolFailure('not_found', notFound(tool, deps.tools.near(tool)));
      const [args, workspace] = await Promise.all([readArguments(attempt.callId, claimed.submitted, deps.blobs), deps.workspaces.open(claimed.meta)]);
      attempt.signal.throwIfAborted();
      return deps.tools.source(tool).call(tool, args, contextOf(attempt, claimed, workspace, updates, deps));
    }, attempt);
    if (ran.kind === 'failure' && ran.unexpected !== undefined) deps.logger.error({ callId: attempt.callId, tool, err: ran.unexpected }, 'a tool threw');
    return ran;
  } finally {
    callOffDeadline();
  }
}

function contextOf(attempt: Attempt, claimed: Claimed, workspace: ToolContext['workspace'], updates: UpdateStream, { config, logger }: RunDeps): ToolContext {
  const { callId } = attempt;
  const { tool: toolName, ...ids } = claimed.meta;
  return {
    ...ids,
    callId,
    toolName,
    attempt: claimed.attempt,
    fence: claimed.fence,
    signal: attempt.signal,
    deadline: Date.now() + claimed.runMs,
    // Read when it is needed: a cancel brings a grace of its own.
    get graceMs() {
      return attempt.graceMs;
    },
    sinceFirstStartMs: Math.max(0, claimed.time - claimed.firstStartedAt),
    workspace,
    env: config.toolEnv,
    log: {
      debug: (message, facts) => logger.debug({ callId, tool: toolName, ...facts }, message),
      warn: (message, facts) => logger.warn({ callId, tool: toolName, ...facts }, message),
    },
    onUpdate: (content) => updates.onUpdate(content),
    onProgress: (progress) => updates.onProgress(progress),
  };
}

function notFound(tool: string, near: readonly string[]): string {
  return `Tool not found: ${tool}${near.length > 0 ? `\nDid you mean: ${near.join(', ')}?` : ''}`;
}
