import { Inject, Injectable } from '@nestjs/common';
import {
  inputRequired,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  type CallToolResult,
  type InputRequiredResult,
  type Result,
} from '@modelcontextprotocol/server';
import type { Logger } from 'pino';
import { CALL_RESULT_TOOL, CancelBody, McpCallMeta, validationFaults, type Call, type SubmitCallBody } from '#contracts';
import { ToolRegistry } from '#tool-sdk';
import { CancelCallService } from '../../calls/cancel-call.service.js';
import { CallReader } from '../../calls/read/call-reader.service.js';
import { SubmitCallRequest } from '../../calls/submit-call-request.js';
import { SubmitCallService } from '../../calls/submit-call.service.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../../platform/gateway.config.js';
import { parse, parseTraceparent } from '../../platform/http/parse.js';
import { toProblem } from '../../platform/http/to-problem.js';
import { LOGGER } from '../../platform/tokens.js';
import { invalidParams } from '../wire/json-rpc-error.js';
import { CallProgress, type ProgressPlace } from './call-progress.service.js';
import { CallQuestions } from './call-questions.service.js';
import { hasOutputSchema, needsStructure, refusalOf, resultOf, unfinishedResult } from './call-result.js';
import { CallResultArguments, CALL_RESULT_ARGUMENTS_TEXT } from './call-result-tool.js';
import { OwnedCalls } from './owned-calls.service.js';
import { ProgressMeter, type ProgressStep } from './progress-meter.js';
import { RequestStates } from './request-state.service.js';
import { taskOf } from './task.js';
import { progressTokenOf, type ToolCall } from './tool-call.js';

const CLOSED = CancelBody.parse({ reason: 'The MCP client closed or cancelled its request' });

/** Longest wait of a client in milliseconds. Default: the settings, and with progress until the End. */
interface Patience {
  readonly answerMs?: number | undefined;
  readonly progressMs?: number | undefined;
}

/** Result of the call, request to the client's user, or handle for requesting the result later. */
export type ToolAnswer = { readonly result: CallToolResult } | { readonly question: InputRequiredResult } | { readonly task: Result };

/**
 * `tools/call`: an ordinary call, submitted like any other. Steps: submit the call, or find the call of the request → request
 * approval or input from the client's user if needed → wait for the End, with progress if the client wants it → the result; or,
 * after the client's wait, a task or a text on how to get the result.
 */
@Injectable()
export class CallToolService {
  constructor(
    private readonly submitCall: SubmitCallService,
    private readonly cancelCall: CancelCallService,
    private readonly reader: CallReader,
    private readonly owned: OwnedCalls,
    private readonly states: RequestStates,
    private readonly questions: CallQuestions,
    private readonly progress: CallProgress,
    private readonly tools: ToolRegistry,
    @Inject(GATEWAY_CONFIG) private readonly config: Pick<GatewayConfig, 'mcp'>,
    @Inject(LOGGER) private readonly log: Logger,
  ) {}

  /**
   * Returns errors of the call as a result for the model.
   * @throws ProtocolError for an unknown tool, a malformed request, a capability that the tool needs
   */
  async call(of: ToolCall): Promise<ToolAnswer> {
    try {
      return of.name === CALL_RESULT_TOOL ? await this.attach(of) : await this.settle(of, await this.callOf(of));
    } catch (error) {
      if (error instanceof ProtocolError) throw error;
      const problem = toProblem(error);
      if (problem.code === 'internal') this.log.error({ err: error, tool: of.name }, 'tools/call failed');
      if (problem.code === 'not_found') throw invalidParams(`Unknown tool: ${of.name}`, { hint: problem.detail });
      return { result: refusalOf(problem) };
    }
  }

  /** Waits for the result of an earlier call, which is not cancelled with this request. */
  private async attach(of: ToolCall): Promise<ToolAnswer> {
    const { data } = CallResultArguments.safeParse(of.args);
    if (data === undefined) return failure(`${CALL_RESULT_ARGUMENTS_TEXT}; got ${JSON.stringify(of.args).slice(0, 500)}`);
    const found = await this.owned.find(of.principal, data.callId);
    if (found === undefined) return failure(`No call with the id ${data.callId} was made with this key`);
    const answered = await this.answered(of);
    const withoutTask = { ...of, features: { ...of.features, tasks: false } };
    const { waitMs } = data;
    return this.answerOf(withoutTask, answered?.id === found.id ? answered : found, { answerMs: waitMs, progressMs: waitMs });
  }

  private async callOf(of: ToolCall): Promise<Call> {
    return (await this.answered(of)) ?? this.submitted(of);
  }

  /** Call of the open request, if this request contains its answer. */
  private async answered(of: ToolCall): Promise<Call | undefined> {
    const state = of.ctx.mcpReq.requestState();
    if (typeof state !== 'string') return undefined;
    const { callId, question } = await this.states.questionOf(of, state);
    const responses: Readonly<Record<string, unknown>> = of.ctx.mcpReq.inputResponses ?? {};
    // Ignores all other responses.
    const answered = await this.questions.answer(of.principal, callId, { [question]: responses[question] });
    return answered ?? this.reader.read(of.principal, callId);
  }

  private async submitted(of: ToolCall): Promise<Call> {
    const meta = McpCallMeta.safeParse(of.meta);
    if (!meta.success) throw invalidParams(`_meta: ${validationFaults(meta.error).join('; ')}`);
    const fields = meta.data;
    const { traceparent } = of.meta;
    const body: SubmitCallBody = parse(
      SubmitCallRequest,
      {
        tool: of.name,
        arguments: of.args,
        sessionId: fields['io.toolyard/sessionId'],
        agentId: fields['io.toolyard/agentId'],
        userId: fields['io.toolyard/userId'],
        dialect: fields['io.toolyard/dialect'],
        toolCallId: fields['io.toolyard/toolCallId'] ?? fields['claudecode/toolUseId'],
      },
      'body',
    );
    const { call } = await this.submitCall.submit(of.principal, body, {
      idempotencyKey: fields['io.toolyard/idempotencyKey'],
      sampling: of.features.sampling ? true : undefined,
      traceparent: typeof traceparent === 'string' ? parseTraceparent(traceparent) : undefined,
    });
    return call;
  }

  private async settle(of: ToolCall, call: Call): Promise<ToolAnswer> {
    const stopWatching = await this.cancelWithRequest(of, call);
    try {
      return await this.answerOf(of, call, {});
    } finally {
      stopWatching();
    }
  }

  /** Repeats once for each request to the user: older clients get it while their `tools/call` is open. */
  private async answerOf(of: ToolCall, call: Call, patience: Patience): Promise<ToolAnswer> {
    let asked: string | undefined;
    const place: ProgressPlace = { meter: new ProgressMeter(of.session?.progressAfter) };
    for (let now = call; ;) {
      if (now.status === 'ended') return { result: this.ended(of, now) };
      const name = this.questions.nameOf(now);
      const answer = name === undefined || name === asked ? undefined : await this.ask(of, now);
      if (answer !== undefined) return answer;
      asked = name;
      const { call: next, isClosed } = await this.wait(of, now, patience, asked, place);
      const open = this.questions.nameOf(next);
      const isNew = open === undefined ? isClosed : open !== asked;
      if (next.status !== 'ended' && !isNew) return this.unfinished(of, next);
      now = next;
    }
  }

  /**
   * Since revision 2026-07-28, a `tools/call` whose tool needs a capability that the client did not declare is answered with an
   * error that names it. Approvals and forms need none: people can also answer them elsewhere.
   *
   * @throws MissingRequiredClientCapabilityError
   */
  private ended({ name, features, session }: ToolCall, call: Call): CallToolResult {
    const isMissing = call.error?.missingCapability === 'sampling' && !features.sampling;
    if (isMissing && session === undefined && name !== CALL_RESULT_TOOL)
      throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { sampling: {} } });
    return resultOf(call, name !== CALL_RESULT_TOOL && needsStructure(this.tools, call));
  }

  private async unfinished(of: ToolCall, call: Call): Promise<ToolAnswer> {
    if (of.features.tasks) return this.task(of, call);
    const waits = this.questions.nameOf(call) !== undefined;
    const text = waits ? this.questions.howToAnswer(call) : `${call.tool} goes on: the call is ${call.status}.`;
    const needsError = call.status === 'waiting_approval' || hasOutputSchema(this.tools, call);
    return { result: unfinishedResult(call, text, needsError) };
  }

  /** Undefined if the wait continues. */
  private async ask(of: ToolCall, call: Call): Promise<ToolAnswer | undefined> {
    const { principal, features, session } = of;
    const isDismissed = this.questions.isDismissed(call, of.ctx.mcpReq.inputResponses);
    const question = features.tasks || isDismissed ? undefined : await this.questions.find(principal, features, call);
    if (question === undefined) return this.unfinished(of, call);
    if (session === undefined)
      return {
        question: inputRequired({
          inputRequests: { [question.name]: question.request },
          requestState: await this.states.mint(of, call, question.name),
        }),
      };
    await session.ask(call.id, question.name, question.request);
    return undefined;
  }

  /**
   * Waits until the End, a new request to the user, or the time is over; `isClosed`: the user has answered or dismissed the
   * open request.
   */
  private async wait(
    of: ToolCall,
    { id: callId, status, attempt }: Call,
    { answerMs = this.config.mcp.answerMs, progressMs }: Patience,
    asked: string | undefined,
    place: ProgressPlace,
  ): Promise<{ readonly call: Call; readonly isClosed: boolean }> {
    const { principal, features, ctx, session } = of;
    const asksAfter = status === 'running' ? attempt - 1 : attempt;
    const within = async (ms: number) => ({ call: await this.reader.readEndedOrAsking(principal, callId, ms, asksAfter), isClosed: false });
    if (features.tasks) return within(this.config.mcp.taskMs);
    const progressToken = progressTokenOf(of);
    const isAsked = session !== undefined && asked !== undefined;
    if (progressToken === undefined && !isAsked) return within(answerMs);
    const limitMs = progressToken === undefined ? answerMs : progressMs;
    const over = new AbortController();
    const closed = new AbortController();
    const stopWatching = isAsked ? session.whenClosed(callId, asked, () => closed.abort()) : () => {};
    const timer = limitMs === undefined ? undefined : setTimeout(() => over.abort(), limitMs);
    const report = (step: ProgressStep) =>
      // Ignores failures: a disconnected client needs no progress.
      void ctx.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, ...step } }).catch(() => {});
    try {
      const signal = AbortSignal.any([ctx.mcpReq.signal, over.signal, closed.signal]);
      await this.progress.follow({ principal, callId, signal, asksAfter, place, report: progressToken === undefined ? () => {} : report });
    } finally {
      clearTimeout(timer);
      stopWatching();
    }
    return { call: await this.reader.readEnded(principal, callId, 0, 'submit'), isClosed: closed.signal.aborted };
  }

  private async task(of: ToolCall, call: Call): Promise<ToolAnswer> {
    const question = await this.questions.find(of.principal, of.features, call);
    const { inputRequests: _asked, result: _result, ...task } = taskOf(call, question, false);
    return { task: { resultType: 'task', ...task } };
  }

  /**
   * Cancels the call with its request, if the key may cancel. Since revision 2026-07-28 a client cancels by closing the
   * response; before, by a notification, which `LegacyEndpoint` handles, and a closed response has no meaning.
   */
  private async cancelWithRequest({ principal, ctx, session }: ToolCall, { id, status }: Call): Promise<() => void> {
    const cancel = () => {
      if (principal.scopes.includes('cancel')) void this.cancelCall.cancel(principal, id, CLOSED).catch(() => {});
    };
    if (status === 'ended') return () => {};
    if (session !== undefined) {
      if (!(await session.began(id))) cancel();
      return () => {};
    }
    const { signal } = ctx.mcpReq;
    if (signal.aborted) cancel();
    signal.addEventListener('abort', cancel, { once: true });
    return () => signal.removeEventListener('abort', cancel);
  }
}

function failure(text: string): ToolAnswer {
  return { result: { content: [{ type: 'text', text }], isError: true } };
}
