import type { EventFilter } from '#contracts';
import { ApprovalsApi } from './api/approvals.api.js';
import { AuditApi } from './api/audit.api.js';
import { BatchesApi } from './api/batches.api.js';
import { CallsApi } from './api/calls.api.js';
import { GatewayApi } from './api/gateway.api.js';
import { PolicyApi } from './api/policy.api.js';
import { QueuesApi } from './api/queues.api.js';
import { KeysApi } from './api/keys.api.js';
import { SchedulesApi } from './api/schedules.api.js';
import { SessionsApi } from './api/sessions.api.js';
import { SourcesApi } from './api/sources.api.js';
import { StatsApi } from './api/stats.api.js';
import { ToolsApi } from './api/tools.api.js';
import { ViewsApi } from './api/views.api.js';
import { WorkersApi } from './api/workers.api.js';
import type { AgentSession } from './adapters/core/agent-session.js';
import { runToolCall } from './adapters/core/run-tool-call.js';
import { runTurn, type TurnOptions } from './adapters/core/run-turn.js';
import { resultMessage, type ToolResultMessage } from './adapters/core/tool-answer.js';
import type { AccumulatedToolCall } from './loop/tool-call-accumulator.js';
import { recallTask, type RecallOptions } from './loop/recall.js';
import type { ToolyardClientOptions } from './client-options.js';
import { HttpTransport } from './http/http-transport.js';
import { TransportPool } from './stream/transport-pool.js';
import { ToolyardError } from './toolyard-error.js';
import { Watch, type WatchOptions } from './stream/watch.js';

export interface ExecuteOptions extends AgentSession {
  /** Id of the call by the model: with the session it is the key of the call. Without one each `execute` is a separate call. */
  readonly toolCallId?: string | undefined;
  /** Cancels the call on abort, unless `cancelOnAbort` is false. */
  readonly signal?: AbortSignal | undefined;
}

/** Client of a Toolyard gateway, for Node 20 and later and for browsers. One instance serves a whole program. */
export class ToolyardClient {
  readonly calls: CallsApi;
  readonly batches: BatchesApi;
  readonly sessions: SessionsApi;
  readonly schedules: SchedulesApi;
  /** Creates, rotates and revokes API keys. */
  readonly keys: KeysApi;
  /** Lists administrative acts. */
  readonly audit: AuditApi;
  readonly policy: PolicyApi;
  readonly approvals: ApprovalsApi;
  readonly tools: ToolsApi;
  readonly sources: SourcesApi;
  readonly views: ViewsApi;
  readonly workers: WorkersApi;
  readonly queues: QueuesApi;
  readonly stats: StatsApi;
  readonly gateway: GatewayApi;
  private readonly streams: TransportPool;

  /** Sends nothing. @throws TypeError for invalid options */
  constructor(options: ToolyardClientOptions) {
    const http = new HttpTransport(options);
    this.calls = new CallsApi(http, (filter, options) => this.watch(filter, options));
    this.batches = new BatchesApi(http);
    this.sessions = new SessionsApi(http);
    this.schedules = new SchedulesApi(http);
    this.keys = new KeysApi(http);
    this.audit = new AuditApi(http);
    this.policy = new PolicyApi(http);
    this.approvals = new ApprovalsApi(http);
    this.tools = new ToolsApi(http);
    this.sources = new SourcesApi(http);
    this.views = new ViewsApi(http);
    this.workers = new WorkersApi(http);
    this.queues = new QueuesApi(http);
    this.stats = new StatsApi(http);
    this.gateway = new GatewayApi(http);
    this.streams = new TransportPool(options, http, () => this.diagnose(http));
  }

  /**
   * Runs one tool call of a model and resolves with the text for the model, when the call has ended. A rejected or failed call
   * also has a text, with the reason. A repetition with the same session and `toolCallId` returns the answer of the first call.
   *
   * @param jsonText the model's text of the arguments; empty for none
   * @throws ToolyardError if the request itself fails: a wrong key, no gateway for `outageMs`. The reason of `signal` on abort
   * @example `const text = await client.execute('shell', '{"command":"date"}', { sessionId, toolCallId: toolCall.id })`
   */
  async execute(name: string, jsonText: string, { toolCallId, signal, ...session }: ExecuteOptions): Promise<string> {
    const call = { name, arguments: jsonText.trim() === '' ? {} : jsonText, id: toolCallId };
    return (await runToolCall(this, session, call, signal)).text;
  }

  /**
   * Runs the tool calls of one answer of a model as a batch and resolves, in their order, with the messages that the model
   * reads next.
   *
   * @throws the errors of `execute`
   * @example `const { results } = await client.executeAll(answer.calls(), { sessionId })`
   */
  async executeAll(
    calls: readonly AccumulatedToolCall[],
    options: TurnOptions,
  ): Promise<{ readonly results: readonly ToolResultMessage[]; readonly steering: readonly string[] }> {
    const { answers, steering } = await runTurn(this, options, calls);
    return { results: calls.flatMap((call, index) => (answers[index] === undefined ? [] : resultMessage(answers[index], call))), steering };
  }

  /**
   * Memories of the user about a task, as a message to put before it: for agents that run their own loop. Undefined if nothing
   * is found, or if session or key may not use `memory_recall` and `memory_search`.
   *
   * @throws the errors of `execute`
   * @example `const memory = await client.recall(task, { sessionId, userId: 'ann' })`
   */
  recall(task: string, options: RecallOptions): Promise<string | undefined> {
    return recallTask(this, task, options);
  }

  /** Live events that match the filter; an empty filter matches the whole tenant. */
  watch(filter: EventFilter = {}, options: WatchOptions = {}): Watch {
    return new Watch(this.streams.acquire(), filter, options);
  }

  /** Ends all streams without an error. Pending requests continue. Idempotent. */
  close(): void {
    this.streams.close();
  }

  /** Finds the reason of a failed WebSocket handshake by HTTP, since browsers do not report it. */
  private async diagnose(http: HttpTransport): Promise<ToolyardError | undefined> {
    try {
      await this.gateway.ready({ timeoutMs: 5000 });
      return undefined;
    } catch (error) {
      if (!(error instanceof ToolyardError)) return undefined;
      return error.code === 'timed_out' ? http.unreachable('it did not answer in time') : error;
    }
  }
}
