import type { EventFilter } from '#contracts';
import { ApprovalsApi } from './api/approvals.api.js';
import { BatchesApi } from './api/batches.api.js';
import { CallsApi } from './api/calls.api.js';
import { GatewayApi } from './api/gateway.api.js';
import { QueuesApi } from './api/queues.api.js';
import { SchedulesApi } from './api/schedules.api.js';
import { SessionsApi } from './api/sessions.api.js';
import { SourcesApi } from './api/sources.api.js';
import { StatsApi } from './api/stats.api.js';
import { ToolsApi } from './api/tools.api.js';
import { WorkersApi } from './api/workers.api.js';
import type { ToolyardClientOptions } from './client-options.js';
import { HttpTransport } from './http/http-transport.js';
import { TransportPool } from './stream/transport-pool.js';
import { ToolyardError } from './toolyard-error.js';
import { Watch, type WatchOptions } from './stream/watch.js';

/** The client of a Toolyard gateway, for Node 20 and later and for browsers. One instance serves a whole program. */
export class ToolyardClient {
  readonly calls: CallsApi;
  readonly batches: BatchesApi;
  readonly sessions: SessionsApi;
  readonly schedules: SchedulesApi;
  readonly approvals: ApprovalsApi;
  readonly tools: ToolsApi;
  readonly sources: SourcesApi;
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
    this.approvals = new ApprovalsApi(http);
    this.tools = new ToolsApi(http);
    this.sources = new SourcesApi(http);
    this.workers = new WorkersApi(http);
    this.queues = new QueuesApi(http);
    this.stats = new StatsApi(http);
    this.gateway = new GatewayApi(http);
    this.streams = new TransportPool(options, http, () => this.diagnose());
  }

  /** Live events that match the filter; an empty filter matches the whole tenant. */
  watch(filter: EventFilter = {}, options: WatchOptions = {}): Watch {
    return new Watch(this.streams.acquire(), filter, options);
  }

  /** Ends all streams without an error. Pending requests continue. Idempotent. */
  close(): void {
    this.streams.close();
  }

  /** Finds the reason of a failed WebSocket handshake by HTTP: browsers do not report it. */
  private async diagnose(): Promise<ToolyardError | undefined> {
    try {
      await this.gateway.ready({ timeoutMs: 5000 });
      return undefined;
    } catch (error) {
      return error instanceof ToolyardError ? error : undefined;
    }
  }
}
