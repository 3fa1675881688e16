import type { Pool } from '#contracts';
import { controlGroupsFolder } from '../process/control-groups.js';
import { BubblewrapSandbox } from './bubblewrap-sandbox.adapter.js';
import { NoSandbox } from './no-sandbox.adapter.js';
import { DisabledSandbox } from './disabled-sandbox.adapter.js';
import { processLimitWarning, type ProcessLimitFacts } from './process-limit-warning.js';
import { isRoot } from './sandbox-user.js';
import type { SandboxBackend, SandboxConfig } from './sandbox.config.js';
import { Sandbox, type SandboxName } from './sandbox.port.js';

/** Status of the sandbox of a pool. */
export interface PoolSandbox {
  readonly backend: SandboxName;
  /** Commands of tools run. */
  readonly ok: boolean;
  /** Isolation of the commands. */
  readonly isolation: 'none' | 'namespaces';
  /** Reason why commands do not run, or run with less isolation. */
  readonly reason?: string;
}

interface Choice {
  readonly sandbox: Sandbox;
  readonly report: PoolSandbox;
  readonly fellBack: boolean;
}

/** The pool whose tools start programs. */
const COMMAND_POOL: Pool = 'shell';

/** Sandbox of each pool of this process, chosen once at the start by trying the available ones. */
export class SandboxRegistry {
  private constructor(
    private readonly served: ReadonlySet<Pool>,
    private readonly chosen: ReadonlyMap<Pool, Choice>,
  ) {}

  /** Never rejects: a sandbox that does not work is in the status, and its pool's commands are refused. */
  static async open(config: SandboxConfig, pools: readonly Pool[], bubblewrap = new BubblewrapSandbox(config)): Promise<SandboxRegistry> {
    const made = { bubblewrap, host: new NoSandbox(config.limits), none: new DisabledSandbox() };
    const chosen = new Map<Pool, Choice>();
    for (const pool of new Set<Pool>([...pools, COMMAND_POOL])) {
      const required = config.required.includes(pool);
      const { sandbox, instead } = await choose(config.backends[pool], required, made);
      const { ok, isolation, detail, weakness } = await sandbox.probe();
      const reason = instead ?? (isolation === 'none' ? detail : weakness);
      chosen.set(pool, {
        sandbox,
        fellBack: instead !== undefined,
        report: { backend: sandbox.name, ok, isolation, reason },
      });
    }
    return new SandboxRegistry(new Set(pools), chosen);
  }

  /** Sandbox of a pool that this process serves; the pool of the commands always has one. */
  for(pool: Pool): Sandbox {
    return this.chosen.get(pool)?.sandbox ?? new DisabledSandbox(`this process does not serve the pool ${pool}`);
  }

  /** Status for the commands of tools, even if this process does not serve their pool. */
  commands(): PoolSandbox {
    return this.chosen.get(COMMAND_POOL)?.report ?? { backend: 'none', ok: false, isolation: 'none', reason: 'no sandbox was chosen' };
  }

  /** Status of the pools that this process serves. */
  status(): Partial<Record<Pool, PoolSandbox>> {
    return Object.fromEntries([...this.chosen].flatMap(([pool, { report }]) => (this.served.has(pool) ? [[pool, report]] : [])));
  }

  /**
   * Warnings for the operator at the start: isolation that differs from the configuration, and limits without effect. A
   * sentence each.
   */
  warnings(): string[] {
    const shell = this.chosen.get(COMMAND_POOL);
    if (!shell || !this.served.has(COMMAND_POOL)) return [];
    const { sandbox, report } = shell;
    const limits = report.ok ? processLimitWarning(processLimitFacts(sandbox)) : undefined;
    return [isolationWarning(shell), limits].filter((it) => it !== undefined);
  }
}

function processLimitFacts(sandbox: Sandbox): ProcessLimitFacts {
  return {
    platform: process.platform,
    hasControlGroups: controlGroupsFolder('pids') !== undefined,
    isRoot: isRoot(),
    sandbox: sandbox.name,
    asOtherUser: sandbox.userOf('') !== undefined,
  };
}

function isolationWarning(shell: Choice): string | undefined {
  const { ok, backend, isolation, reason } = shell.report;
  if (!ok && backend !== 'none') return `Commands of tools are refused: ${reason}`;
  if (isolation === 'namespaces' && reason !== undefined) return `Commands of tools are isolated less than they could be: ${reason}`;
  if (!shell.fellBack) return undefined;
  return `Commands of tools run with the rights of this worker: ${reason}. SANDBOX=host says that this is meant; SANDBOX_REQUIRED=true refuses commands instead`;
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
