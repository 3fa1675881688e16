import { ulid } from 'ulidx';
import type { Pool, Principal, WorkerHello, WorkerServerFrame, WorkerTool } from '#contracts';
import { mappedName } from '#sources';
import type { Claimant } from './claim-token.js';
import { WorkerSession } from '../session/worker-session.js';

/** Way of frames to a worker: a WebSocket, or the answers of its polls. */
export interface WorkerTransport {
  send(frame: WorkerServerFrame): void;
  close(code: number, reason: string): void;
}

/** One connection of one worker. */
export class ConnectedWorker {
  readonly id = `f-${ulid()}`;
  readonly session = new WorkerSession();
  readonly startedAt = new Date();
  /** Time of the last frame, by `performance.now()`. */
  seenAt = performance.now();
  isGone = false;
  private readonly tools = new Map<string, WorkerTool>();
  private readonly reserved = new Map<Pool, number>();

  constructor(
    public principal: Principal,
    readonly hello: Pick<WorkerHello, 'worker' | 'sdk' | 'labels'>,
    tools: readonly WorkerTool[],
    readonly transport: WorkerTransport,
  ) {
    this.setTools(tools);
  }

  get tenantId(): string {
    return this.principal.tenantId;
  }

  get source(): string {
    return this.hello.worker;
  }

  /** Identity of its claims. */
  get claimant(): Claimant {
    const { tenantId, source, principal } = this;
    return { tenantId, source, keyId: principal.keyId };
  }

  offered(): WorkerTool[] {
    return [...this.tools.values()];
  }

  setTools(tools: readonly WorkerTool[]): void {
    this.tools.clear();
    for (const tool of tools) this.tools.set(mappedName(this.source, tool.name), tool);
  }

  /** `name`: of the catalog. */
  has(name: string): boolean {
    const prefix = `${this.source}__`;
    return this.tools.has(name) || (name.startsWith(prefix) && this.tools.has(name.slice(prefix.length)));
  }

  /** Credit without that reserved for attempts about to be claimed. */
  freeOf(pool: Pool): number {
    return this.isGone ? 0 : this.session.creditOf(pool) - (this.reserved.get(pool) ?? 0);
  }

  /** Reserves one credit for an attempt about to be claimed. Returns the idempotent release. */
  reserve(pool: Pool): () => void {
    this.reserved.set(pool, (this.reserved.get(pool) ?? 0) + 1);
    let held = true;
    return () => {
      if (held) this.reserved.set(pool, (this.reserved.get(pool) ?? 1) - 1);
      held = false;
    };
  }
}
