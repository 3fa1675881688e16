import type { SubmittedData } from '#contracts';
import { renderOutput, renderRefusal } from '#dialects';
import { Suspension, type ToolContext, ToolError, type ToolOutput, type ToolOutputObject } from '#tool-sdk';

/** Advice without a tool name, since the dialect may lack a tool that reads outputs. */
const IN_A_FILE = 'write long output to a file and read that in parts';

/** Translates the output or failure of a tool into the dialect of its call. */
export async function inDialect(
  { dialect, dialectHints: hints = {}, toolCallId }: Pick<SubmittedData, 'dialect' | 'dialectHints' | 'toolCallId'>,
  args: Readonly<Record<string, unknown>>,
  { toolName: name, sinceFirstStartMs, redact }: Pick<ToolContext, 'toolName' | 'sinceFirstStartMs' | 'redact'>,
  call: () => Promise<ToolOutput>,
): Promise<ToolOutput> {
  if (dialect === undefined) return withoutData(await call());
  const startedAt = performance.now();
  try {
    const output = await call();
    if (output instanceof Suspension) return output;
    const { data, structuredContent: _structured, readOn, ...rest } = objectOf(output);
    const tookMs = sinceFirstStartMs + Math.round(performance.now() - startedAt);
    const rendered = renderOutput({ dialect, name, hints }, { ...rest, data: data ?? {} }, { args, tookMs, toolCallId, redact });
    return { ...rest, ...(readOn && { readOn: () => IN_A_FILE }), ...rendered };
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    const { code, message, options } = error;
    throw new ToolError(
      code,
      renderRefusal({ dialect, name }, { code, message, args, errors: options.errors, kind: 'run', started: true }),
      options,
    );
  }
}

function objectOf(output: Exclude<ToolOutput, Suspension>): ToolOutputObject {
  if (typeof output === 'string') return { content: [{ type: 'text', text: output }] };
  return 'content' in output ? output : { content: output };
}

/** Removes `data`, which only dialects read. */
function withoutData(output: ToolOutput): ToolOutput {
  if (typeof output === 'string' || output instanceof Suspension || !('data' in output)) return output;
  const { data: _data, ...rest } = output;
  return rest;
}
