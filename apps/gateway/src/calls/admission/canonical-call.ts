import {
  POLICY_PROFILES,
  type Dialect,
  type ExecutionPolicy,
  type PolicyConfig,
  type SubmitCallBody,
  type ToolDescriptor,
} from '#contracts';
import { renderRefusal, viewOf, dialectOf, type DialectForm, type MisunderstoodCall } from '#dialects';
import type { ToolView } from '#tool-sdk';
import { aliasedTool } from '../tool-aliases.js';
import type { EvaluatedCall } from './evaluated-call.js';

/** Submission with canonical tool name and arguments, and its form in the submitter's names. */
export interface CanonicalCall {
  readonly body: SubmitCallBody;
  /** Tool name in the submission. */
  readonly requestedTool: string;
  /** Absent for a call of dialect `core`, and for tools of other sources than `builtin`. */
  readonly dialectForm?: DialectForm;
  readonly purpose?: string | undefined;
  /** Longest run that the agent gives the tool, in milliseconds. */
  readonly timeoutMs?: number | undefined;
  /** Reason why the dialect has no such tool or arguments. `body` then has the submitted arguments. */
  readonly fault?: DialectFault;
}

type DialectFault = Omit<MisunderstoodCall, 'tool'> & {
  /** Similar names of tools. */
  readonly near: readonly string[];
};

interface Names {
  readonly dialect: Dialect | undefined;
  /** Aliases of the agent's configuration. */
  readonly aliases?: PolicyConfig['toolAliases'];
  /** True for a tool that the caller may use, and that may be suggested. */
  readonly isOffered?: (tool: ToolDescriptor) => boolean;
}

/** Resolves an alias, then translates name and arguments of a dialect. Pure. */
export function canonicalCall(
  tools: Pick<ToolView, 'resolve'>,
  submitted: SubmitCallBody,
  { dialect = 'core', aliases = {}, isOffered = () => true }: Names,
): CanonicalCall {
  const tool = aliasedTool(aliases, submitted.tool);
  const body = tool === undefined ? submitted : { ...submitted, tool };
  if (dialect === 'core') return { body, requestedTool: submitted.tool };
  const view = viewOf(dialect);
  if (view.isForeign(body.tool, tools)) return { body, requestedTool: submitted.tool };
  const understood = view.understand(body.tool, body.arguments, { inSession: body.sessionId !== undefined });
  const form = { dialect, name: body.tool, hints: {} };
  if (understood.ok && tools.resolve(understood.tool) !== undefined) {
    const { args, hints = {}, purpose, timeoutMs } = understood;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- adapted from what was parsed from JSON
    const canonical = { ...body, tool: understood.tool, arguments: args as Exclude<SubmitCallBody['arguments'], string> };
    return { body: canonical, requestedTool: body.tool, dialectForm: { ...form, hints }, purpose, timeoutMs };
  }
  const near = view.suggest(body.tool, (name) => {
    const similar = tools.resolve(name);
    return similar !== undefined && isOffered(similar);
  });
  const { tool: meant, ...fault } = understood.ok || understood.tool === undefined ? unknownTool(body.tool, near) : understood;
  return {
    body: meant === undefined ? body : { ...body, tool: meant },
    requestedTool: body.tool,
    dialectForm: form,
    fault: { ...fault, near },
  };
}

function unknownTool(name: string, near: readonly string[]): MisunderstoodCall {
  const hint = near.length > 0 ? `\nDid you mean: ${near.join(', ')}?` : '';
  return { ok: false, kind: 'schema', code: 'not_found', message: `Tool not found: ${name}${hint}`, errors: [] };
}

/** Call with its rejection text in the wording of its dialect. Pure. */
export function withDialectText(call: EvaluatedCall, fault?: DialectFault): EvaluatedCall {
  const { dialectForm, rejection } = call;
  if (dialectForm === undefined || rejection === undefined) return call;
  const { code, message, errors } = rejection.error;
  const args = typeof call.args === 'object' && call.args !== null && !Array.isArray(call.args) ? call.args : undefined;
  const kind = code === 'invalid_arguments' ? (fault?.kind ?? 'semantic') : 'policy';
  const text = renderRefusal(dialectForm, { code, message, errors, args, kind, started: false, near: fault?.near });
  return { ...call, rejection: { ...rejection, text } };
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
