import {
  CLIENT_CAPABILITIES_META_KEY,
  METHOD_NOT_FOUND,
  ProtocolError,
  type CallToolResult,
  type Client,
  type Tool,
} from '@modelcontextprotocol/client';
import { JsonSchema } from '#contracts';
import { Suspension, ToolError, type ToolContext, type ToolOutput } from '#tool-sdk';
import type { OfferedTool } from '../catalog/offered-tool.js';
import { NotBegun, type Listing, type SourceConnection } from '../source-connector.port.js';
import { withoutSecrets } from '../definitions/without-secrets.js';
import { isFields } from '../fields.js';
import type { AnswerReader } from './answers/answer-reader.js';
import { rawResult } from './answers/carried-result.js';
import { mendedOf } from './answers/tool-list.js';
import { callFailure } from './call-failure.js';
import { isRefusedBySession, isSessionLostError } from './lost-session.js';
import { outputOf } from './mcp-content.js';
import { callCapabilities } from './questions/client-capabilities.js';
import { OPEN_MS, type OpenCall } from './questions/open-call.js';
import { OpenCalls } from './questions/open-calls.js';
import { McpTasks, type McpResult } from './tasks/mcp-tasks.js';
import type { OwnSampling } from './questions/own-sampling.js';
import { AskedState, type Asked, type Given, type RoundState } from './questions/question.js';
import { withAnswer, firstRound, isInputRequiredResult, nextStep, pause, sampledByOwn, type RoundParams } from './questions/rounds.js';

/** The call ends by its own deadline; this only frees what the client holds. */
const SLACK_MS = 10_000;

export interface McpConnectionParts {
  /** Name of the source, for people who are asked on its behalf. */
  readonly source: string;
  readonly client: Client;
  readonly answers: Pick<AnswerReader, 'pages' | 'problems'>;
  /** Values that must not leave the worker. */
  readonly secrets: readonly string[];
  /** True if a call has ended. */
  readonly isOver: (callId: string) => Promise<boolean>;
  /** Answers where the server asks for a model; without it the MCP client of the call does. */
  readonly own?: OwnSampling | undefined;
  /** True if tasks outlive the connection, for every worker. */
  readonly tasksOutlive: boolean;
  /** CPU time of its program since the last time; undefined where it is not known. */
  readonly takeCpuMs?: (() => number | undefined) | undefined;
  /** Why the server is gone, in words for the operator. */
  readonly whyClosed: () => string;
  readonly close: () => Promise<void>;
}

/** A connected MCP server. All calls share the connection. */
export class McpConnection implements SourceConnection {
  private readonly changed = new Set<() => void>();
  private closing: Promise<void> | undefined;

  /** A request on this connection had a result. */
  private answered = false;
  private expired: () => void = () => {};
  private closed: (reason: string) => void = () => {};

  private readonly open: OpenCalls<McpResult>;
  private readonly tasks: McpTasks;

  constructor(private readonly parts: McpConnectionParts) {
    this.open = new OpenCalls(parts.source, parts.isOver, parts.own);
    this.tasks = new McpTasks({ ...parts, open: this.open, redact: (value) => withoutSecrets(value, parts.secrets) });
  }

  /** Called by the client when the server asks a person or a model something. */
  asks({ method, params }: Asked): Promise<Given> {
    return this.open.ask({ method, params: withoutSecrets(params, this.parts.secrets) });
  }

  /** Called by the client when the server says that its list changed. */
  listChanged(): void {
    this.tasks.forgetTools();
    for (const listener of this.changed) listener();
  }

  async list(signal: AbortSignal): Promise<Listing> {
    const { client, secrets } = this.parts;
    try {
      const { tools } = await client.listTools(undefined, { signal, cacheMode: 'refresh' });
      this.answered = true;
      const isModern = client.getProtocolEra() === 'modern';
      this.tasks.listed(tools);
      const { problems, pages } = this.parts.answers;
      const faults = {
        ...(pages.fault === undefined && problems.size === 0 ? {} : { problems: [pages.fault ?? [], ...problems].flat() }),
        ...(pages.isPartial && { broken: pages.fault }),
      };
      return withoutSecrets({ tools: tools.map((tool) => offeredTool(tool, isModern)), ...faults }, secrets);
    } catch (error) {
      this.noticeLostSession(error);
      if (error instanceof ProtocolError && error.code === METHOD_NOT_FOUND)
        return { tools: [], problems: ['the server does not know tools/list: it has no tools'] };
      const message = error instanceof Error ? error.message : String(error);
      throw new Error(withoutSecrets(message, secrets), { cause: error });
    }
  }

  /** Steps: call, or go on with what was asked or with a task → a result, or a question that suspends the call. */
  async call(rawName: string, args: Readonly<Record<string, unknown>>, ctx: ToolContext): Promise<ToolOutput> {
    const { secrets, source } = this.parts;
    const state = AskedState.safeParse(ctx.resumed?.state).data;
    try {
      let round = 0;
      let params: RoundParams = {};
      let sampled: RoundState['sampled'];
      if (state?.kind === 'mcp.rounds') {
        const next = await this.step(ctx.resumed === undefined ? state : withAnswer(source, state, ctx.resumed), ctx);
        if (next instanceof Suspension) return next;
        ({ round, params, sampled } = next);
      }
      for (;;) {
        const result = (await this.resume(state, ctx)) ?? (await this.begin(rawName, args, params, ctx));
        if (result instanceof Suspension) return result;
        if (!isInputRequiredResult(result)) return this.outputOf(result);
        const first = firstRound(source, result, round, sampled);
        // The state goes back byte for byte; no person reads it.
        const asked = { ...first, left: withoutSecrets(first.left, secrets) };
        if (asked.left.length === 0) return pause(asked);
        const next = await this.step(asked, ctx);
        if (next instanceof Suspension) return next;
        ({ round, params, sampled } = next);
      }
    } catch (error) {
      if (error instanceof ToolError) throw error;
      if (ctx.signal.aborted) throw ctx.signal.reason;
      this.noticeLostSession(error);
      const failure = callFailure(error, ctx, (text) => withoutSecrets(text, this.parts.secrets));
      throw isRefusedBySession(error) ? new NotBegun(failure.code, failure.message, failure.options) : failure;
    } finally {
      // Charges concurrent calls to the first one that ends, including the CPU time of the program between calls.
      if (this.parts.takeCpuMs !== undefined) ctx.onCpuTime?.(this.parts.takeCpuMs());
    }
  }

  /** @throws ToolError, not retryable: the tool has run */
  private outputOf(result: CallToolResult): ToolOutput {
    this.answered = true;
    const isModern = this.parts.client.getProtocolEra() === 'modern';
    try {
      return withoutSecrets(outputOf(rawResult(result), isModern), this.parts.secrets);
    } catch (error) {
      throw new ToolError('tool_failed', 'The result of the MCP server cannot be read.', { retryable: false, cause: error });
    }
  }

  /** Same as `nextStep`, after the answers of the operator's model. */
  private async step(asked: RoundState, ctx: ToolContext) {
    const state = await sampledByOwn(asked, this.parts.own, ctx);
    const next = nextStep(this.parts.source, state, ctx.sampling === true);
    return next instanceof Suspension ? next : { ...next, sampled: state.sampled };
  }

  /** Undefined for a call that nothing was begun for. */
  private async resume(state: AskedState | undefined, ctx: ToolContext): Promise<McpResult | Suspension | undefined> {
    if (state?.kind === 'mcp.open') return this.tasks.afterQuestion(state, ctx, () => this.open.resume(state, ctx));
    return this.tasks.resume(ctx.resumed?.state, ctx);
  }

  private async begin(
    name: string,
    args: Readonly<Record<string, unknown>>,
    params: RoundParams,
    ctx: ToolContext,
  ): Promise<McpResult | Suspension> {
    const { client, secrets } = this.parts;
    const meta = {
      ...(ctx.traceparent === undefined ? {} : { traceparent: ctx.traceparent }),
      ...(client.getProtocolEra() === 'modern'
        ? { [CLIENT_CAPABILITIES_META_KEY]: callCapabilities(ctx.sampling === true || this.parts.own !== undefined) }
        : {}),
    };
    const request = {
      name,
      arguments: { ...args },
      ...params,
      _meta: meta,
    };
    if (await this.tasks.wants(name, ctx.signal)) return this.tasks.create(request, ctx);
    const begin = ({ signal, onProgress }: OpenCall<McpResult>): Promise<McpResult> =>
      client.callTool(request, {
        signal,
        allowInputRequired: true,
        // The attempt has a deadline of its own; a call whose server waits for a person has none.
        timeout: Math.max(1, ctx.deadline - Date.now()) + SLACK_MS + OPEN_MS,
        onprogress: ({ progress, total, message }) =>
          onProgress({
            done: progress,
            ...(total === undefined ? {} : { total }),
            ...(message === undefined ? {} : { message: withoutSecrets(message, secrets).slice(0, 1_000) }),
          }),
      });
    const result = await this.open.begin(begin, ctx);
    return result instanceof Suspension ? result : this.tasks.orTask(result, ctx);
  }

  onChange(listener: () => void): void {
    this.changed.add(listener);
  }

  onClosed(listener: (reason: string) => void): void {
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the client is no EventTarget; this is its only hook
    this.parts.client.onclose = () => listener(this.parts.whyClosed());
    this.closed = listener;
  }

  onExpired(listener: () => void): void {
    this.expired = listener;
  }

  /** Some servers answer with an error of the request where the protocol has 404. */
  private noticeLostSession(error: unknown): void {
    if (this.parts.tasksOutlive && isSessionLostError(error)) this.sessionGone();
  }

  /** A server that forgets its sessions at once is like one that is not there. */
  sessionGone(): void {
    if (this.answered) this.expired();
    else this.closed('the server does not know the session that it began');
  }

  close(): Promise<void> {
    this.open.close();
    this.tasks.close();
    return (this.closing ??= this.parts.close().catch(() => undefined));
  }
}

/** Hints count where the operator trusts the source. `anyOutput`: structured content may be any value, not only an object. */
function offeredTool(tool: Tool, anyOutput: boolean): OfferedTool {
  const { name, title, description, annotations } = tool;
  const { readOnlyHint = false, destructiveHint = true, idempotentHint = false } = annotations ?? {};
  const { inputSchema, outputSchema = tool.outputSchema, left } = mendedOf(tool) ?? { inputSchema: tool.inputSchema, left: [] };
  const label = title ?? annotations?.title;
  const input = JsonSchema.safeParse(inputSchema).data ?? {};
  const output = JsonSchema.safeParse(outputSchema).data;
  // Schema without the type that its author forgot, which can only be `object`.
  const isUntyped = !isTyped(input) && isFields(input['properties']);
  const isOfObject = output === undefined || !isTyped(output) || [output['type']].flat().includes('object');
  const problems = left.map((field) => `its ${field} cannot be read`);
  if (isUntyped) problems.push('its inputSchema has no type: read as an object');
  if (!isOfObject && !anyOutput) problems.push('its outputSchema is not of an object: left out');
  return {
    rawName: name,
    ...(label === undefined ? {} : { label }),
    ...(description === undefined ? {} : { description }),
    input: isUntyped ? { ...input, type: 'object' } : input,
    ...(output === undefined || (!isOfObject && !anyOutput)
      ? {}
      : { output: isTyped(output) || anyOutput ? output : { ...output, type: 'object' } }),
    ...(problems.length === 0 ? {} : { problems }),
    tier: readOnlyHint ? 'read_only' : destructiveHint ? 'privileged' : 'side_effecting',
    effect: readOnlyHint ? 'pure' : idempotentHint ? 'idempotent' : 'once',
  };
}

const isTyped = ({ type = null }: JsonSchema): boolean => type !== null;
