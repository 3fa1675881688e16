import { z } from 'zod';
import type { Failure } from '../commit/attempt-result.js';
import { Content, Result, type Json, type Violation } from '#contracts';
import type { Suspension, ToolOutput } from '#tool-sdk';
import type { ToolRunResult } from './run-tool.js';

/** Violations of a tool's output schema; empty for a valid value or a tool without schema. */
export type CheckStructured = (tool: string, value: unknown) => readonly Violation[];

/** Output of a tool in the form of the contract, or the failure. */
export type CheckedOutput = { readonly ok: true; readonly result: Result } | { readonly ok: false; readonly failure: Failure };

/** Validates the output of a tool by the schema, like a request: tools may come from anywhere. Never throws. */
export function checkOutput(tool: string, output: Exclude<ToolOutput, Suspension>, structured: CheckStructured): CheckedOutput {
  const candidate = asObject(output);
  const result = readResult(candidate);
  if (!result) return refused(`The tool ${tool} returned something that is no tool output. Expected text or a list of content items.`);
  const violations = result.structuredContent === undefined || result.isError ? [] : structured(tool, result.structuredContent);
  if (violations.length === 0) return { ok: true, result };
  const lines = violations.map(({ pointer, message }) => `${pointer}: ${message}`).join('\n');
  return refused(`The tool ${tool} returned an output that does not fit its schema:\n${lines}`, violations);
}

/** Result of a run after the check of its output. */
export function withCheckedOutput(
  tool: string,
  run: ToolRunResult,
  structured: CheckStructured,
): { readonly run: ToolRunResult; readonly result?: Result } {
  if (run.kind !== 'output') return { run };
  const checked = checkOutput(tool, run.output, structured);
  return checked.ok ? { run, result: checked.result } : { run: { kind: 'failure', failure: checked.failure } };
}

function asObject(output: Exclude<ToolOutput, Suspension>): object {
  if (typeof output === 'string') return { content: [{ type: 'text', text: output }], isError: false };
  return 'content' in output ? { isError: false, ...output } : { content: output, isError: false };
}

/** Schema of a result that accepts any JSON part: JSON.stringify checks these many times faster than a schema. */
const json = z.custom<z.output<typeof Json>>((value) => value !== undefined && typeof value !== 'function' && typeof value !== 'symbol');
const [text, , ...others] = Content.options;
const ResultForm = Result.extend({
  content: z.array(z.discriminatedUnion('type', [text, z.object({ type: z.literal('json'), json }), ...others])),
  structuredContent: json.optional(),
  details: z.record(z.string(), json).optional(),
});

function readResult(candidate: object): Result | undefined {
  const read = ResultForm.safeParse(candidate);
  if (!read.success) return undefined;
  try {
    JSON.stringify(read.data);
    return read.data;
  } catch {
    return undefined; // Cycles and big integers have no JSON.
  }
}

function refused(message: string, errors: readonly Violation[] = []): { ok: false; failure: Failure } {
  return { ok: false, failure: { code: 'output_invalid', message, retryable: false, ...(errors.length > 0 ? { errors } : {}) } };
}
