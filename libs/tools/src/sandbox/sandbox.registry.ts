import type { Pool } from '#contracts';
import { BubblewrapSandbox } from './bubblewrap-sandbox.adapter.js';
import { HostSandbox } from './host-sandbox.adapter.js';
import { NoneSandbox } from './none-sandbox.adapter.js';
import type { SandboxBackend, SandboxConfig } from './sandbox.config.js';
import { Sandbox, type SandboxName } from './sandbox.port.js';

/** What a worker tells about the sandbox of a pool. */
export interface PoolSandbox {
  readonly backend: SandboxName;
  /** Commands of tools run. */
  readonly ok: boolean;
  /** How they are isolated. */
  readonly isolation: 'none' | 'namespaces';
  /** Why they do not run, or run with less than one may want. */
  readonly reason?: string;
}

interface Choice {
  readonly sandbox: Sandbox;
  readonly report: PoolSandbox;
  readonly fellBack: boolean;
}

/** The pool whose tools start programs. */
const COMMAND_POOL: Pool = 'shell';

/** The sandbox of each pool of this process, chosen once, at the start, by trying what is there. */
export class SandboxRegistry {
  private constructor(
    private readonly served: ReadonlySet<Pool>,
    private readonly chosen: ReadonlyMap<Pool, Choice>,
  ) {}

  /** Never rejects: a sandbox that does not work is in the status, and its pool's commands are refused. */
  static async open(config: SandboxConfig, pools: readonly Pool[], bubblewrap = new BubblewrapSandbox(config)): Promise<SandboxRegistry> {
    const made = { bubblewrap, host: new HostSandbox(config.limits), none: new NoneSandbox() };
    const chosen = new Map<Pool, Choice>();
    for (const pool of new Set<Pool>([...pools, COMMAND_POOL])) {
      const required = config.required.includes(pool);
      const { sandbox, instead } = await choose(config.backends[pool], required, made);
      const { ok, isolation, detail } = await sandbox.probe();
      const reason = instead ?? (isolation === 'none' ? detail : undefined);
      chosen.set(pool, {
        sandbox,
        fellBack: instead !== undefined,
        report: { backend: sandbox.name, ok, isolation, ...(reason === undefined ? {} : { reason }) },
      });
    }
    return new SandboxRegistry(new Set(pools), chosen);
  }

  /** Of a pool that this process serves; that of the commands' own pool is always there. */
  for(pool: Pool): Sandbox {
    return this.chosen.get(pool)?.sandbox ?? new NoneSandbox(`this process does not serve the pool ${pool}`);
  }

  /** Of the pools that this process serves. */
  status(): Partial<Record<Pool, PoolSandbox>> {
    return Object.fromEntries([...this.chosen].flatMap(([pool, { report }]) => (this.served.has(pool) ? [[pool, report]] : [])));
  }

  /** For the operator, at the start: how commands run that the configuration did not ask for. At most one sentence. */
  warning(): string | undefined {
    const shell = this.chosen.get(COMMAND_POOL);
    if (!shell || !this.served.has(COMMAND_POOL)) return undefined;
    if (!shell.report.ok && shell.report.backend !== 'none') return `Commands of tools are refused: ${shell.report.reason}`;
    if (!shell.fellBack) return undefined;
    return `Commands of tools run with the rights of this worker: ${shell.report.reason}. SANDBOX=host says that this is meant; SANDBOX_REQUIRED=true refuses commands instead`;
  }
}

async function choose(
  backend: SandboxBackend,
  required: boolean,
  made: Readonly<Record<SandboxName, Sandbox>>,
): Promise<{ sandbox: Sandbox; instead?: string }> {
  if (backend !== 'auto') return { sandbox: made[backend] };
  const { ok, detail } = await made.bubblewrap.probe();
  if (ok || required) return { sandbox: made.bubblewrap };
  return { sandbox: made.host, instead: detail };
}
