import type { SubmittedData, ToolDescriptor } from '#contracts';
import { ToolError, type ToolView } from '#tool-sdk';
import { assertCapabilities } from '../approved-call.js';
import type { AttemptRun, AttemptStage } from '../attempt-run.js';

const BUILTIN = 'builtin';

/**
 * Finds the tool. Rejects it if it has more capabilities in this worker than the gateway evaluated, or if its source has
 * changed it. Reads the catalog again before it rejects an unknown tool, which may have been announced a moment ago.
 */
export const resolveToolStage: AttemptStage = {
  name: 'resolve_tool',
  run(run) {
    const { meta, submitted } = run.claimed;
    const view = run.deps.tools.for(meta.tenantId);
    const tool = view.resolve(meta.tool);
    if (tool === undefined || isOutdated(tool, submitted)) return resolveAgain(run);
    take(run, view, tool);
  },
};

async function resolveAgain(run: AttemptRun): Promise<void> {
  const { meta, submitted } = run.claimed;
  await run.deps.tools.refresh();
  const view = run.deps.tools.for(meta.tenantId);
  const tool = view.resolve(meta.tool);
  if (tool === undefined) throw new ToolError('not_found', notFound(meta.tool, view.suggest(meta.tool)));
  if (isOutdated(tool, submitted))
    throw new ToolError('unavailable', `${tool.name} has changed in its source since this call was submitted. Submit the call again.`, {
      retryable: false,
    });
  take(run, view, tool);
}

function take(run: AttemptRun, view: ToolView, tool: ToolDescriptor): void {
  assertCapabilities(tool, run.claimed.submitted);
  run.view = view;
  run.tool = tool;
}

/** True for an external tool that changed after its evaluation. */
function isOutdated(tool: ToolDescriptor, { toolVersion, source }: SubmittedData): boolean {
  return tool.source !== BUILTIN && (tool.version !== toolVersion || tool.source !== source);
}

function notFound(tool: string, suggestions: readonly string[]): string {
  return `Tool not found: ${tool}${suggestions.length > 0 ? `\nDid you mean: ${suggestions.join(', ')}?` : ''}`;
}
