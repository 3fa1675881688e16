import { ProblemError } from '#contracts';

interface Tenant {
  running: number;
  readonly waiting: (() => void)[];
}

export interface TurnLimits {
  /** Most concurrent tasks of one tenant, so that none blocks the others. */
  readonly atOnce: number;
  /** Most concurrent tasks of all tenants. */
  readonly allAtOnce: number;
  /** Most waiting tasks of one tenant; more are rejected. */
  readonly waiting: number;
  /** Name of the tasks in the rejection. */
  readonly what: string;
}

const RETRY_MS = 2_000;

/** Limits the concurrent tasks of each tenant. Further tasks wait in order, the tenants take turns, and too many are rejected. */
export class TenantTurns {
  /** Tenants in order of their last turn, oldest first. */
  private readonly tenants = new Map<string, Tenant>();
  private running = 0;

  constructor(private readonly limits: TurnLimits) {}

  /**
   * Runs a task in its turn. `disconnect`: aborts when the client disconnects, which removes a waiting task, but stops no running one.
   * @throws ProblemError `too_many_requests`
   */
  async run<Answer>(tenantId: string, ask: () => Promise<Answer>, disconnect?: AbortSignal): Promise<Answer> {
    const tenant = this.tenants.get(tenantId) ?? { running: 0, waiting: [] };
    if (tenant.waiting.length === 0 && this.mayRun(tenant)) this.begin(tenantId, tenant);
    else await this.turn(tenantId, tenant, disconnect);
    try {
      return await ask();
    } finally {
      this.running -= 1;
      tenant.running -= 1;
      if (tenant.running === 0 && tenant.waiting.length === 0) this.tenants.delete(tenantId);
      this.beginNext();
    }
  }

  private mayRun({ running }: Tenant): boolean {
    return running < this.limits.atOnce && this.running < this.limits.allAtOnce;
  }

  private begin(tenantId: string, tenant: Tenant): void {
    this.running += 1;
    tenant.running += 1;
    this.tenants.delete(tenantId);
    this.tenants.set(tenantId, tenant);
  }

  /** Passes the turn on directly, so that a new task cannot take it in between. */
  private beginNext(): void {
    for (const [tenantId, tenant] of this.tenants) {
      const next = this.mayRun(tenant) ? tenant.waiting.shift() : undefined;
      if (next === undefined) continue;
      this.begin(tenantId, tenant);
      next();
      return;
    }
  }

  private turn(tenantId: string, tenant: Tenant, disconnect: AbortSignal | undefined): Promise<void> {
    const { atOnce, waiting, what } = this.limits;
    if (tenant.waiting.length >= waiting)
      throw new ProblemError(
        'too_many_requests',
        `A gateway runs at most ${atOnce} ${what} of a tenant at once, and ${waiting} may wait, which is exceeded. Ask again later, or for shorter periods`,
        { retryAfterMs: RETRY_MS },
      );
    this.tenants.set(tenantId, tenant);
    return new Promise((resolve, reject) => {
      const begin = () => {
        disconnect?.removeEventListener('abort', forget);
        resolve();
      };
      const forget = () => {
        tenant.waiting.splice(tenant.waiting.indexOf(begin), 1);
        if (tenant.running === 0 && tenant.waiting.length === 0) this.tenants.delete(tenantId);
        reject(new ProblemError('too_many_requests', 'The client went away before its turn came'));
      };
      tenant.waiting.push(begin);
      if (disconnect?.aborted) forget();
      else disconnect?.addEventListener('abort', forget, { once: true });
    });
  }
}
