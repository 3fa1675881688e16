import { ProblemError } from '#contracts';

interface Tenant {
  running: number;
  readonly waiting: (() => void)[];
}

/** What the database is asked at once for one tenant, so that none keeps it from the others. */
const AT_ONCE = 4;
const WAITING = 60;
const RETRY_MS = 2_000;

/** Lets some questions of each tenant run; further ones wait in their order, and are refused when too many do. */
export class TenantTurns {
  private readonly tenants = new Map<string, Tenant>();

  constructor(
    private readonly atOnce = AT_ONCE,
    private readonly maxWaiting = WAITING,
  ) {}

  /** @throws ProblemError `too_many_requests` */
  async run<Answer>(tenantId: string, ask: () => Promise<Answer>): Promise<Answer> {
    const tenant = this.tenants.get(tenantId) ?? { running: 0, waiting: [] };
    this.tenants.set(tenantId, tenant);
    if (tenant.running < this.atOnce) tenant.running += 1;
    else await this.turn(tenant);
    try {
      return await ask();
    } finally {
      // The turn is handed on: a question that comes in between does not take it.
      const next = tenant.waiting.shift();
      if (next !== undefined) next();
      else if ((tenant.running -= 1) === 0) this.tenants.delete(tenantId);
    }
  }

  private turn(tenant: Tenant): Promise<void> {
    if (tenant.waiting.length >= this.maxWaiting)
      throw new ProblemError(
        'too_many_requests',
        `The tenant has ${this.atOnce} questions over many calls that run and ${this.maxWaiting} that wait, which is the limit of a gateway. Ask again later, or for shorter periods`,
        { retryAfterMs: RETRY_MS },
      );
    return new Promise((resolve) => tenant.waiting.push(resolve));
  }
}
