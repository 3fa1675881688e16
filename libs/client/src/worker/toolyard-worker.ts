import { WORKER_PROTOCOL, type Pool, type WorkerFrame, type WorkerHello, type WorkerServerFrame } from '#contracts';
import { backoffMs } from '../http/backoff.js';
import { sleep } from '../http/deadline.js';
import { openPollLink } from './poll-link.js';
import { RunningCall, type SendOutput } from './running-call.js';
import { outputSender } from './send-output.js';
import { openSocketLink } from './socket-link.js';
import { WorkerRefused, type OpenWorkerLink, type WorkerLink, type WorkerSocketConstructor } from './worker-link.port.js';
import type { RunnableTool } from './worker-tool.js';

export interface ToolyardWorkerOptions {
  /** Address of a gateway, or of a load balancer before several. */
  readonly baseUrl: string;
  /** A key with the scope `work`. */
  readonly apiKey: string;
  /** Source of the tools: workers with the same name share tools and calls. */
  readonly name: string;
  readonly tools: readonly RunnableTool[];
  /** Concurrent calls in each pool. Default: 4. */
  readonly slots?: number;
  /** Labels in `GET /v1/workers`. */
  readonly labels?: Readonly<Record<string, string>>;
  /** WebSocket class, such as that of the package `ws`. Default: the worker polls over HTTP. */
  readonly WebSocket?: WorkerSocketConstructor;
  readonly fetch?: typeof globalThis.fetch;
  /** Receives messages for people: connections, rejected frames. */
  readonly onMessage?: (text: string) => void;
}

const SDK = 'typescript/1';

/**
 * Offers tools to Toolyard from any process: no Redis, only a connection to a gateway. Reconnects to any responding gateway,
 * and continues its calls there.
 *
 * @example
 * const worker = new ToolyardWorker({ baseUrl, apiKey, name: 'adder', tools: [add], WebSocket });
 * process.once('SIGTERM', () => worker.stop());
 * await worker.run();
 */
export class ToolyardWorker {
  private readonly open: OpenWorkerLink;
  private readonly sendOutput: SendOutput;
  private readonly tools = new Map<string, RunnableTool>();
  private readonly calls = new Map<string, RunningCall>();
  private readonly granted = new Map<Pool, number>();
  private readonly stopping = new AbortController();
  private pools = new Map<string, Pool>();
  private link: WorkerLink | undefined;
  private isLeaving = false;

  constructor(private readonly options: ToolyardWorkerOptions) {
    const { baseUrl, apiKey, WebSocket, fetch = (...args) => globalThis.fetch(...args) } = options;
    const base = baseUrl.replace(/\/+$/, '');
    this.open = WebSocket === undefined ? openPollLink(base, apiKey, fetch) : openSocketLink(base, apiKey, WebSocket);
    this.sendOutput = outputSender(base, apiKey, options.name, fetch);
    for (const tool of options.tools) this.tools.set(tool.announced.name, tool);
  }

  /** Runs until `stop`. @throws WorkerRefused if the gateway rejects this worker */
  async run(): Promise<void> {
    for (let failures = 0; !this.isFinished;) {
      let lost: (why: string) => void = () => {};
      const closed = new Promise<string>((resolve) => (lost = resolve));
      try {
        const events = { frame: (frame: WorkerServerFrame) => this.take(frame), closed: lost };
        this.link = await this.open(this.hello(), events, AbortSignal.timeout(10_000));
        failures = 0;
        this.welcomed(this.link);
        const beat = setInterval(() => this.beat(), this.link.welcome.heartbeatMs / 2);
        const why = await closed;
        clearInterval(beat);
        this.say(`the connection is over (${why})`);
      } catch (error) {
        if (error instanceof WorkerRefused) throw error;
        this.say(`no connection: ${error instanceof Error ? error.message : String(error)}`);
      } finally {
        this.link = undefined;
      }
      if (!this.isFinished) await sleep(Math.min(5_000, backoffMs((failures += 1), Math.random())), undefined);
    }
  }

  /** Stops new calls; running ones end, then `run` resolves. Idempotent. */
  stop(): void {
    if (this.stopping.signal.aborted) return;
    this.stopping.abort();
    this.link?.send({ op: 'drain' });
    this.leaveWhenIdle();
  }

  /** Changes the announced tools. */
  announce({ add = [], remove = [] }: { readonly add?: readonly RunnableTool[]; readonly remove?: readonly string[] }): void {
    const has = (tool: RunnableTool) => this.tools.has(tool.announced.name);
    const [changed, added] = [add.filter(has), add.filter((tool) => !has(tool))];
    for (const tool of add) this.tools.set(tool.announced.name, tool);
    for (const name of remove) this.tools.delete(name);
    const [one, two] = [added, changed].map((tools) => tools.map(({ announced }) => announced));
    this.link?.send({ op: 'tools', added: one ?? [], changed: two ?? [], removed: [...remove] });
    this.giveCredit();
  }

  private get isFinished(): boolean {
    return this.stopping.signal.aborted && this.calls.size === 0;
  }

  private hello(): WorkerHello {
    const { name: worker, labels } = this.options;
    const tools = [...this.tools.values()].map(({ announced }) => announced);
    return { op: 'hello', protocol: WORKER_PROTOCOL, worker, sdk: SDK, ...(labels === undefined ? {} : { labels: { ...labels } }), tools };
  }

  private welcomed({ welcome }: WorkerLink): void {
    this.isLeaving = false;
    this.granted.clear();
    this.pools = new Map(welcome.tools.map(({ name, pool }) => [name, pool]));
    for (const problem of welcome.problems) this.say(`left out: ${problem}`);
    this.say(`connected as ${welcome.workerId}; tools: ${[...this.pools.keys()].join(', ')}`);
    this.renew();
    for (const call of this.calls.values()) call.repeat();
    this.giveCredit();
    this.leaveWhenIdle();
  }

  private beat(): void {
    this.renew();
    for (const call of this.calls.values()) call.repeat();
  }

  private renew(): void {
    const keys = [...this.calls.values()].filter(({ isHeld }) => isHeld).map(({ key }) => key);
    if (keys.length > 0)
      this.link?.send({ op: 'renew', callIds: keys.map(({ callId }) => callId), fences: keys.map(({ fence }) => fence) });
  }

  private take(frame: WorkerServerFrame): void {
    if (frame.op === 'call') return this.start(frame);
    if (frame.op === 'drain') {
      this.isLeaving = true;
      return this.leaveWhenIdle();
    }
    if (frame.op === 'refused') {
      this.say(`refused: ${frame.problem.title}: ${frame.problem.detail ?? ''}`);
      for (const call of this.calls.values())
        if (call.key.callId === frame.callId) call.refused(frame.problem.detail ?? frame.problem.title);
      return;
    }
    if (frame.op !== 'cancel' && frame.op !== 'stale' && frame.op !== 'done') return;
    const call = this.calls.get(keyOf(frame));
    if (frame.op === 'cancel') call?.cancel(frame.reason);
    else if (frame.op === 'stale') call?.stale();
    else call?.settle();
  }

  private start(frame: WorkerServerFrame & { op: 'call' }): void {
    const key = keyOf(frame);
    if (this.calls.has(key)) return;
    const pool = this.poolOf(frame.tool);
    this.granted.set(pool, Math.max(0, (this.granted.get(pool) ?? 0) - 1));
    const send = (frame: WorkerFrame) => this.link?.send(frame);
    const call = new RunningCall(frame, send, this.sendOutput, () => {
      this.calls.delete(key);
      this.giveCredit();
      this.leaveWhenIdle();
    });
    this.calls.set(key, call);
    void call.run(this.tools.get(frame.tool));
  }

  private giveCredit(): void {
    if (this.stopping.signal.aborted || this.isLeaving) return;
    for (const pool of new Set(this.pools.values())) {
      const running = [...this.calls.values()].filter((call) => this.poolOf(call.frame.tool) === pool).length;
      const n = (this.options.slots ?? 4) - running - (this.granted.get(pool) ?? 0);
      if (n <= 0 || this.link === undefined) continue;
      this.link.send({ op: 'credit', pool, n });
      this.granted.set(pool, (this.granted.get(pool) ?? 0) + n);
    }
  }

  private poolOf(tool: string): Pool {
    return this.pools.get(tool) ?? 'net';
  }

  private leaveWhenIdle(): void {
    const { link } = this;
    if (link === undefined || this.calls.size > 0 || !(this.isLeaving || this.stopping.signal.aborted)) return;
    link.send({ op: 'bye' });
    void link.flush().then(() => link.close());
  }

  private say(text: string): void {
    this.options.onMessage?.(text);
  }
}

function keyOf({ callId, fence }: { readonly callId: string; readonly fence: number }): string {
  return `${callId}/${fence}`;
}
