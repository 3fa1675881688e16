import { POLICY_PROFILES, type Dialect, type ExecutionPolicy, type SubmitCallBody, type ToolDescriptor } from '#contracts';
import { dialectOf, renderRefusal, viewOf, type SpokenCall } from '#dialects';
import type { ToolView } from '#tool-sdk';
import { NOT_EVALUATED, type EvaluatedCall } from './evaluated-call.js';

/** Submission in canonical terms with its dialect form, or its rejection. */
export type CanonicalSubmission =
  | {
      readonly body: SubmitCallBody;
      readonly spoken?: SpokenCall;
      readonly purpose?: string | undefined;
      /** Longest run that the agent gives the tool. */
      readonly timeoutMs?: number | undefined;
    }
  | { readonly body: SubmitCallBody; readonly refused: EvaluatedCall };

/**
 * Translates name and arguments into canonical ones. Canonical calls and tools of other sources than `builtin` are unchanged.
 * `isOffered`: true for a tool that the caller may use, and that may be suggested. Pure.
 */
export function fromDialect(
  tools: Pick<ToolView, 'resolve'>,
  dialect: Dialect | undefined,
  body: SubmitCallBody,
  isOffered: (tool: ToolDescriptor) => boolean = () => true,
): CanonicalSubmission {
  if (dialect === undefined || dialect === 'core') return { body };
  const view = viewOf(dialect);
  if (view.isForeign(body.tool, tools)) return { body };
  const understood = view.understand(body.tool, body.arguments, { inSession: body.sessionId !== undefined });
  const spoken = { dialect, name: body.tool, hints: {} };
  if (understood.ok && tools.resolve(understood.tool) !== undefined) {
    const { tool, args, hints = {}, purpose, timeoutMs } = understood;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- adapted from what was parsed from JSON
    const canonical = { ...body, tool, arguments: args as Exclude<SubmitCallBody['arguments'], string> };
    return { body: canonical, spoken: { ...spoken, hints }, purpose, timeoutMs };
  }
  const near = view.suggest(body.tool, (name) => {
    const tool = tools.resolve(name);
    return tool !== undefined && isOffered(tool);
  });
  const fault = understood.ok || understood.tool === undefined ? unknownTool(body.tool, near) : understood;
  const tool = fault.tool === undefined ? undefined : tools.resolve(fault.tool);
  const refused = {
    requestedTool: body.tool,
    ...(tool === undefined ? {} : { tool }),
    args: body.arguments,
    spoken,
    decision: NOT_EVALUATED,
    rejection: {
      outcome: 'failed',
      error: {
        code: fault.code,
        message: fault.message,
        retryable: false,
        ...(fault.errors.length > 0 ? { errors: [...fault.errors] } : {}),
      },
    },
  } as const;
  return { body: fault.tool === undefined ? body : { ...body, tool: fault.tool }, refused: inDialect(refused, fault.kind, near) };
}

interface Fault {
  readonly tool?: string;
  readonly kind: 'schema' | 'semantic';
  readonly code: 'not_found' | 'invalid_arguments';
  readonly message: string;
  readonly errors: readonly { readonly pointer: string; readonly message: string }[];
}

function unknownTool(name: string, near: readonly string[]): Fault {
  const hint = near.length > 0 ? `\nDid you mean: ${near.join(', ')}?` : '';
  return { kind: 'schema', code: 'not_found', message: `Tool not found: ${name}${hint}`, errors: [] };
}

/** Call with its rejection text in the wording of its dialect. Pure. */
export function inDialect(call: EvaluatedCall, of: 'schema' | 'semantic' = 'semantic', near?: readonly string[]): EvaluatedCall {
  const { spoken, rejection } = call;
  if (spoken === undefined || rejection === undefined) return call;
  const { code, message, errors } = rejection.error;
  const args = typeof call.args === 'object' && call.args !== null && !Array.isArray(call.args) ? call.args : undefined;
  const kind = code === 'invalid_arguments' ? of : 'policy';
  return { ...call, rejection: { ...rejection, text: renderRefusal(spoken, { code, message, errors, args, kind, started: false, near }) } };
}

/** Execution settings of a dialect: its own value wherever the policy has our default. Pure. */
export function executionIn(dialect: Dialect, execution: ExecutionPolicy): ExecutionPolicy {
  if (dialect === 'core') return execution;
  const own = dialectOf(dialect).execution;
  const ours = POLICY_PROFILES.core.execution;
  return {
    strategy: execution.strategy === ours.strategy ? own.strategy : execution.strategy,
    onFailure: execution.onFailure === ours.onFailure ? own.onFailure : execution.onFailure,
    strictArguments: execution.strictArguments,
    resultBytes: execution.resultBytes === ours.resultBytes ? own.resultBytes : execution.resultBytes,
    resultTailBytes: execution.resultTailBytes,
  };
}
