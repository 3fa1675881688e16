import type { Claimed } from '#event-log';
import { ToolError, type Workspace } from '#tool-sdk';
import { assertApproved, assertCapabilities } from './approved-call.js';
import type { Attempt } from './attempt.js';
import { CallContext } from './call-context.js';
import type { AttemptDependencies } from './attempt-dependencies.js';
import type { AttemptTrace } from './attempt-tracer.js';
import { loadArguments } from './read-arguments.js';
import { runTool, type ToolRunResult } from './run-tool.js';
import type { OutputSanitizer } from './output-sanitizer.js';

type RunDeps = Pick<AttemptDependencies, 'blobs' | 'clock' | 'config' | 'logger' | 'tools' | 'workspaces' | 'files'>;

/** Everything of an attempt that may fail or take long, under its run deadline. Never rejects: all of it ends as a RunEnd. */
export async function runClaimed(
  attempt: Attempt,
  claimed: Claimed,
  guard: OutputSanitizer,
  deps: RunDeps,
  trace?: AttemptTrace,
): Promise<ToolRunResult> {
  const { tool } = claimed.meta;
  const callOffDeadline = deps.clock.after(claimed.runMs, () => attempt.abort('run_timeout'));
  try {
    const call = async () => {
      const descriptor = deps.tools.resolve(tool);
      if (!descriptor) throw new ToolError('not_found', notFound(tool, deps.tools.suggest(tool)));
      assertCapabilities(descriptor, claimed.submitted);
      const [{ args, approved }, workspace] = await Promise.all([
        loadArguments(attempt.callId, claimed.submitted, deps.blobs),
        openFiles(claimed, deps),
      ]);
      assertApproved(descriptor, claimed.submitted, approved);
      guard.start(descriptor, args, claimed.submitted.argumentsRedacted === true);
      attempt.throwIfAborted();
      const context = new CallContext(attempt, claimed, workspace, deps.config.toolEnv, guard, deps.logger, trace?.traceparent);
      return deps.tools.source(tool).call(tool, args, context);
    };
    const ran = await (trace === undefined ? runTool(call, attempt) : trace.run(() => runTool(call, attempt)));
    if (ran.kind === 'failure' && ran.unexpected !== undefined)
      deps.logger.error({ callId: attempt.callId, tool, err: ran.unexpected }, 'a tool threw');
    return ran;
  } finally {
    callOffDeadline();
  }
}

/** The workspace, and what the decision about the call opens or denies besides. */
async function openFiles({ meta, submitted }: Claimed, { workspaces, files }: RunDeps): Promise<Workspace> {
  const workspace = await workspaces.resolve(meta);
  return submitted.files === undefined ? workspace : files.of(workspace, workspaces.pathOf(meta), meta.tool, submitted.files);
}

function notFound(tool: string, near: readonly string[]): string {
  return `Tool not found: ${tool}${near.length > 0 ? `\nDid you mean: ${near.join(', ')}?` : ''}`;
}
