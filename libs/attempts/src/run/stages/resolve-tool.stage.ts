import { ToolError } from '#tool-sdk';
import { assertCapabilities } from '../approved-call.js';
import type { AttemptStage } from '../attempt-run.js';

/** Finds the tool. Refuses it when it may do more in this worker than the gateway evaluated. */
export const resolveToolStage: AttemptStage = {
  name: 'resolve_tool',
  run(run) {
    const { tool: name } = run.claimed.meta;
    const { tools } = run.deps;
    const tool = tools.resolve(name);
    if (!tool) throw new ToolError('not_found', notFound(name, tools.suggest(name)));
    assertCapabilities(tool, run.claimed.submitted);
    run.tool = tool;
  },
};

function notFound(tool: string, suggestions: readonly string[]): string {
  return `Tool not found: ${tool}${suggestions.length > 0 ? `\nDid you mean: ${suggestions.join(', ')}?` : ''}`;
}
