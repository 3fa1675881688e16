import type { Pool, WorkerCall, WorkerFrameOf } from '#contracts';
import { Changes, CheckFailed } from './changes.js';
import type { CheckConnection } from './check-connection.js';
import { CHECK_KEY, CheckServer } from './check-server.js';
import { WorkerProcess } from './worker-process.js';

export const CHECK_SLOTS = 100;

export type Attempt = Pick<WorkerCall, 'callId' | 'fence'>;

/** Environment of a scenario: the scripted gateway, the worker program and its connections. */
export class Bench {
  readonly changes: Changes;
  readonly server: CheckServer;
  worker: WorkerProcess | undefined;
  private url = '';
  private calls = 0;

  constructor(
    private readonly command: readonly string[],
    timeoutMs: number,
  ) {
    this.changes = new Changes(timeoutMs);
    this.server = new CheckServer(this.changes);
  }

  async open(): Promise<void> {
    this.url = await this.server.listen();
  }

  async close(): Promise<void> {
    await this.kill();
    await this.server.close();
  }

  /** Starts the program, unless it runs. */
  start(): void {
    if (this.worker?.exit !== undefined) this.worker = undefined;
    this.worker ??= new WorkerProcess(
      this.command,
      { TOOLYARD_URL: this.url, TOOLYARD_API_KEY: CHECK_KEY, TOOLYARD_CHECK: '1', TOOLYARD_SLOTS: String(CHECK_SLOTS) },
      this.changes,
    );
  }

  async kill(): Promise<void> {
    const { worker } = this;
    if (worker === undefined) return;
    worker.signal('SIGCONT');
    worker.signal('SIGKILL');
    await this.changes.until(
      () => worker.exit,
      () => 'the program to end after SIGKILL',
    );
    this.server.forget();
    this.worker = undefined;
  }

  async exited(): Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }> {
    return this.changes.until(
      () => this.worker?.exit,
      () => 'the program to end',
    );
  }

  /** The connection that is open, else the next one. Starts the program when it does not run. */
  async connection(): Promise<CheckConnection> {
    this.start();
    const { worker } = this;
    return this.changes.until(
      () => {
        const found = this.server.connections.findLast(({ isClosed }) => !isClosed);
        if (found === undefined && worker?.exit !== undefined)
          throw new CheckFailed(`The program ended with ${worker.exit.code ?? worker.exit.signal}: ${worker.log.slice(-500)}`);
        return found;
      },
      () => `a connection with hello; the program says: ${worker?.log.slice(-500) ?? ''}`,
    );
  }

  /** A new connection, when the one before was cut. */
  async reconnected(before: CheckConnection): Promise<CheckConnection> {
    return this.changes.until(
      () => this.server.connections.findLast((it) => it !== before && !it.isClosed),
      () => 'the worker to connect again',
    );
  }

  /** Sends a call when the worker has given credit for it. */
  async call(
    connection: CheckConnection,
    tool: string,
    args: WorkerCall['arguments'],
    more: Partial<WorkerCall> = {},
  ): Promise<WorkerCall> {
    const pool = poolOf(connection, tool);
    await this.changes.until(
      () => ((connection.credit.get(pool) ?? 0) > 0 ? true : undefined),
      () => `credit for the pool ${pool}`,
    );
    connection.credit.set(pool, (connection.credit.get(pool) ?? 0) - 1);
    const call: WorkerCall = {
      op: 'call',
      callId: this.callId(),
      fence: 1,
      attempt: 1,
      tool,
      arguments: args,
      deadlineMs: 60_000,
      ...more,
    };
    connection.send(call);
    return call;
  }

  /** Calls a tool and waits for its end. */
  async run(connection: CheckConnection, tool: string, args: WorkerCall['arguments']): Promise<WorkerFrameOf<'finish'>> {
    return this.finished(connection, await this.call(connection, tool, args));
  }

  finished(connection: CheckConnection, call: Attempt): Promise<WorkerFrameOf<'finish'>> {
    return this.changes.until(
      () => {
        const found = connection.about(call).findLast((frame) => frame.op === 'finish');
        if (found === undefined && connection.isClosed) throw new CheckFailed('Expected a frame finish; the connection is closed.');
        return found;
      },
      () =>
        `a frame finish of ${call.callId}; got ${
          connection
            .about(call)
            .map(({ op }) => op)
            .join(', ') || 'nothing'
        } about it`,
    );
  }

  /** Two calls of a tool that answers at once: earlier frames are handled by then. */
  async settled(connection: CheckConnection): Promise<void> {
    for (const value of ['a', 'b']) await this.run(connection, 'check_echo', { value });
  }

  callId(): string {
    return `01-01JZ8C5W3Q4X9R7T2M${String(++this.calls).padStart(8, '0')}`;
  }
}

export function poolOf({ hello }: CheckConnection, tool: string): Pool {
  return hello.tools.find(({ name }) => name === tool)?.pool ?? 'net';
}

/** The text of a result. */
export function textOf({ outcome, content = [], error }: WorkerFrameOf<'finish'>): string {
  if (outcome === 'failed') throw new CheckFailed(`Expected the call to complete; it failed: ${error?.message ?? 'without a reason'}`);
  return content.map((item) => (item.type === 'text' ? item.text : `[${item.type}]`)).join('');
}

/** @throws CheckFailed */
export function expectThat(condition: boolean, what: string): asserts condition {
  if (!condition) throw new CheckFailed(what);
}
