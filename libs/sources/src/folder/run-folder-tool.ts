import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { Json, parseExactJson } from '#contracts';
import { resolveSandboxView, runProcess, type ProcessReport, type Sandbox } from '#sandbox';
import { exactJsonText, ToolError, type ToolContext, type ToolOutputObject } from '#tool-sdk';
import { networkFault } from '../definitions/network-fault.js';
import { programWords } from '../definitions/program-words.js';
import { resolveSecrets } from '../definitions/resolve-secrets.js';
import { withoutSecrets } from '../definitions/without-secrets.js';
import { MessageBudget } from '#timing';
import { isOwnFile } from './program-word.js';
import type { FoundTool } from './read-folder.js';
import { UpdateLines } from './update-lines.js';

/** The tool refuses: its standard error is the message for the model. */
const REFUSED = 2;
/** EX_TEMPFAIL of sysexits.h: the call may be retried. */
const TEMPORARY = 75;
const MESSAGE_CHARACTERS = 2_000;

export interface RunOptions {
  readonly sandbox: Sandbox;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Network setting in the definition of the source. */
  readonly network?: 'none' | undefined;
}

/** Runs a folder tool: 1. its command in the sandbox  2. arguments on standard input  3. what its exit code means. */
export async function runFolderTool(
  { folder, tool }: FoundTool,
  args: Readonly<Record<string, unknown>>,
  ctx: ToolContext,
  { sandbox, env, network }: RunOptions,
): Promise<ToolOutputObject> {
  const fault = await networkFault(sandbox, network);
  if (fault !== undefined) throw new ToolError('unavailable', `Commands do not run on this worker: ${fault}`, { retryable: true });
  const root = await realpath(ctx.workspace.root);
  const secrets = resolveSecrets(tool.env ?? {}, env);
  const view = await resolveSandboxView({ ...ctx.workspace, root }, ctx.signal);
  const program = programWords(tool.run.map((word, index) => (isOwnFile(folder, word, index) ? join(folder, word) : word)));
  const command = { ...program, cwd: root, env: { ...ctx.env, HOME: root, ...callVariables(ctx), ...secrets }, extraPipe: true };
  const wrapped = sandbox.wrap({ ...command, input: exactJsonText(args) }, root, {
    hidden: [],
    readOnly: [],
    ...view,
    network,
    visible: [...(view?.visible ?? []), { path: folder, access: 'read' }],
  });
  const flood = new AbortController();
  const budget = new MessageBudget();
  budget.onExceeded = () => flood.abort();
  const updates = new UpdateLines(ctx, budget);
  const report = await runProcess(wrapped, {
    signal: AbortSignal.any([ctx.signal, flood.signal]),
    get graceMs() {
      return budget.exceeded === undefined ? ctx.graceMs : 0;
    },
    onExtra: updates.accept,
  });
  ctx.onCpuTime?.(report.cpuMs);
  if (budget.exceeded !== undefined) throw new ToolError('tool_failed', `The tool was stopped: ${budget.exceeded}`, { retryable: false });
  const hidden = Object.entries(tool.env ?? {}).flatMap(([name, value]) => (typeof value === 'string' ? [] : (secrets[name] ?? [])));
  return withoutSecrets(outputOf(withoutSecrets(report, hidden), tool.output !== undefined, ctx), hidden);
}

/** `TOOLYARD_DEADLINE_MS`: how long the call may still run. */
function callVariables(ctx: ToolContext): Record<string, string> {
  return {
    TOOLYARD_CALL_ID: ctx.callId,
    TOOLYARD_ATTEMPT: String(ctx.attempt),
    TOOLYARD_DEADLINE_MS: String(Math.max(0, ctx.deadline - Date.now())),
    ...(ctx.sessionId === undefined ? {} : { TOOLYARD_SESSION: ctx.sessionId }),
    ...(ctx.traceparent === undefined ? {} : { TRACEPARENT: ctx.traceparent }),
  };
}

function outputOf(report: ProcessReport, structured: boolean, ctx: ToolContext): ToolOutputObject {
  const { exit, stdout, stderr } = report;
  const said = (stderr.text + stderr.tail).trim().slice(-MESSAGE_CHARACTERS);
  switch (exit.how) {
    case 'exited':
      if (exit.code === 0) return resultOf(stdout, structured);
      if (exit.code === REFUSED) throw new ToolError('tool_failed', said || 'The tool refused the call.', { retryable: false });
      throw new ToolError('tool_failed', `The tool failed with exit code ${exit.code}${said === '' ? '' : `: ${said}`}`, {
        retryable: exit.code === TEMPORARY,
      });
    case 'signalled':
      throw new ToolError('tool_failed', `The tool was ended by ${exit.signal}`, { retryable: false });
    case 'over_limit':
      throw new ToolError('tool_failed', 'The tool used more than its limits allow', { retryable: false });
    case 'stopped':
    case 'killed':
      throw stopError(ctx, exit.how === 'killed', exit.how === 'stopped' && exit.code === 0);
    default:
      return exit satisfies never;
  }
}

function resultOf(stdout: ProcessReport['stdout'], structured: boolean): ToolOutputObject {
  const text = { content: [{ type: 'text' as const, text: stdout.text }], ...(stdout.truncated ? { seenBytes: stdout.bytes } : {}) };
  if (!structured) return text;
  try {
    return { ...text, structuredContent: Json.parse(parseExactJson(stdout.text)) };
  } catch {
    throw new ToolError('output_invalid', 'The tool has an output schema, but its standard output is not one JSON document.', {
      retryable: false,
    });
  }
}

function stopError({ signal }: ToolContext, killed: boolean, mayHaveFinished: boolean): unknown {
  const reason: unknown = signal.reason;
  if (!(reason instanceof ToolError)) return reason;
  return new ToolError(reason.code, reason.message, { ...reason.options, killed, ...(mayHaveFinished ? { mayHaveFinished } : {}) });
}
