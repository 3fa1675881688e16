import { ulid } from 'ulidx';
import { WORKER_LIMITS, type Pool, type Principal, type WorkerHello, type WorkerServerFrame, type WorkerTool } from '#contracts';
import { mappedName } from '#sources';
import type { Claimant } from './claim-token.js';
import { WorkerSession } from '../session/worker-session.js';

/**
 * Bytes of frames that a worker has not read. Above `full` it gets no further calls, above `most` it counts as gone.
 * The difference has room for the calls that are about to be sent.
 */
export const UNREAD_BYTES = { full: 16_777_216, most: 67_108_864 } as const;

/**
 * Most bytes of calls of one pool that are claimed for a worker and not sent yet; a single larger call is claimed
 * alone.
 */
const RESERVED_BYTES = 8_388_608;

/** Way of frames to a worker: a WebSocket, or the answers of its polls. */
export interface WorkerTransport {
  /** True while the worker has more than `UNREAD_BYTES.full` to read. */
  readonly isFull: boolean;
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
  private readonly reserved = new Map<Pool, { readonly calls: number; readonly bytes: number }>();

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

  /** Credit without that reserved for attempts about to be claimed; none while the worker has much to read. */
  freeOf(pool: Pool): number {
    const { calls, bytes } = this.reservedOf(pool);
    return this.isGone || this.transport.isFull || bytes >= RESERVED_BYTES ? 0 : this.session.creditOf(pool) - calls;
  }

  /** Most concurrent jobs of the pool's queue for this worker. */
  slotsOf(pool: Pool): number {
    if (this.isGone) return 0;
    return this.session.slotsOf(pool) - (this.transport.isFull ? this.session.creditOf(pool) : 0);
  }

  /**
   * Reserves one credit for an attempt about to be claimed. `callBytes`: 0 if unknown. Returns the idempotent release.
   */
  reserve(pool: Pool, callBytes: number): () => void {
    const bytes = callBytes === 0 ? WORKER_LIMITS.frameBytes : callBytes;
    this.addReserved(pool, 1, bytes);
    let held = true;
    return () => {
      if (held) this.addReserved(pool, -1, -bytes);
      held = false;
    };
  }

  private reservedOf(pool: Pool): { readonly calls: number; readonly bytes: number } {
    return this.reserved.get(pool) ?? { calls: 0, bytes: 0 };
  }

  private addReserved(pool: Pool, calls: number, bytes: number): void {
    const before = this.reservedOf(pool);
    this.reserved.set(pool, { calls: before.calls + calls, bytes: before.bytes + bytes });
  }
}
