import { execFile } from 'node:child_process';
import { realpathSync, statSync } from 'node:fs';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { findExecutable } from '../process/find-executable.js';
import type { ResourceLimits } from '../process/resource-limits.js';
import { isWithin } from '../workspace/workspace-path.js';
import { nextDescriptor, runProcess, type ProcessCommand } from '../process/run-process.js';
import { bubblewrapProfile } from './bubblewrap-profile.js';
import { DEFAULT_LIMITS } from './default-limits.js';
import { Sandbox, type SandboxReport, type SandboxView } from './sandbox.port.js';
import type { SyscallGroup } from './seccomp/refused-syscalls.js';
import { isRoot, userOfTenant } from './sandbox-user.js';
import { seccompFilter } from './seccomp/seccomp-filter.js';

/** Folders of programs inside; see `bubblewrap-profile.ts`. */
const SHOWN_FOLDERS = ['/usr', '/bin', '/sbin'];
const SYSTEM_PATH = '/usr/local/bin:/usr/bin:/bin';
const INSTALL = 'install bubblewrap (Debian: apt-get install bubblewrap) on a system that allows user namespaces, or set SANDBOX=host';
const PROBE_TIMEOUT_MS = 5_000;
const NO_FILTER = `none is known for the architecture ${process.arch}`;
/** Lifetime of a failed probe: after installing a missing part, the operator need not restart the worker. */
const FAILED_FOR_MS = 5_000;

export interface BubblewrapSettings {
  readonly network?: 'none' | 'host';
  /** Further files and folders that commands may read: absolute paths, seen at the same place. */
  readonly readable?: readonly string[];
  readonly limits?: ResourceLimits;
  readonly bwrap?: string | undefined;
  /** System calls that commands may make although they are refused by default. */
  readonly syscalls?: readonly SyscallGroup[];
}

/**
 * Namespaces by `bwrap`, see `bubblewrap-profile.ts`. Everything inside dies with bwrap, and bwrap with the worker. A
 * command that is asked to stop gets SIGTERM and its grace; bwrap itself is only killed.
 */
export class BubblewrapSandbox extends Sandbox {
  readonly name = 'bubblewrap';
  readonly network: 'none' | 'host';
  private readonly bwrap: string | undefined;
  private readonly limits: ResourceLimits;
  private readonly readable: readonly string[];
  /** Undefined where the machine has none, or bwrap or the kernel does not take it. */
  private filter: Buffer | undefined;
  private hardened = false;
  /** Commands run as the user of their workspace. */
  private mapsUsers = false;
  private probed: { readonly report: Promise<SandboxReport>; readonly at: number } | undefined;

  constructor(settings: BubblewrapSettings = {}) {
    super();
    this.bwrap = 'bwrap' in settings ? settings.bwrap : findExecutable(['bwrap']);
    this.network = settings.network ?? 'none';
    this.readable = settings.readable ?? [];
    this.limits = settings.limits ?? DEFAULT_LIMITS;
    this.filter = seccompFilter(settings.syscalls);
  }

  async probe(): Promise<SandboxReport> {
    const last = this.probed ?? { report: this.try(), at: performance.now() };
    this.probed = last;
    const report = await last.report;
    if (!report.ok && performance.now() - last.at > FAILED_FOR_MS && this.probed === last) this.probed = undefined;
    return report;
  }

  /** Programs that the sandbox does not show, such as those in a home folder, do not count. */
  override findProgram(names: readonly string[], path = process.env['PATH'] ?? SYSTEM_PATH): string | undefined {
    const shown = [...SHOWN_FOLDERS, ...this.readable];
    const isShown = (place: string) => shown.some((folder) => isWithin(place, folder));
    for (const name of names) {
      for (const folder of path.split(delimiter)) {
        const found = isShown(folder) ? findExecutable([name], folder) : undefined;
        if (found !== undefined && isShown(realpathSync(found))) return found;
      }
    }
    return undefined;
  }

  wrap(command: ProcessCommand, workspace: string, view?: SandboxView): ProcessCommand {
    const { filter } = this;
    const first = nextDescriptor(command);
    const user = this.userFor(workspace);
    const profile = bubblewrapProfile({
      workspace,
      cwd: command.cwd,
      network: view?.network ?? this.network,
      readable: this.readable,
      limits: this.limits,
      hardened: this.hardened,
      view,
      mapsUser: user === undefined ? undefined : first + (filter ? 1 : 0),
    });
    return {
      ...command,
      file: this.bwrap ?? 'bwrap',
      args: [...(filter ? ['--seccomp', String(first)] : []), ...profile, command.file, ...command.args],
      cwd: workspace,
      limits: this.limits,
      isSandbox: true,
      ...(filter && { filter }),
      ...(user !== undefined && { user }),
    };
  }

  override userOf(tenantId: string): number | undefined {
    return this.mapsUsers ? userOfTenant(tenantId) : undefined;
  }

  /** A command has the user of its workspace, unless that is root's. */
  private userFor(workspace: string): number | undefined {
    const owner = this.mapsUsers ? statSync(workspace, { throwIfNoEntry: false })?.uid : undefined;
    return owner === 0 ? undefined : owner;
  }

  private async try(): Promise<SandboxReport> {
    const failed = (detail: string): SandboxReport => ({ name: this.name, ok: false, isolation: 'none', detail });
    if (this.bwrap === undefined) return failed(`bwrap is not installed: ${INSTALL}`);
    this.hardened = await canDisableNamespaces(this.bwrap);
    const filtered = this.filter === undefined ? NO_FILTER : await this.fault();
    if (filtered !== undefined) this.filter = undefined;
    const fault = filtered === undefined ? undefined : await this.fault();
    if (fault !== undefined) return failed(`${fault}; ${INSTALL}`);
    const network = this.network === 'none' ? 'no network' : 'the network of the worker';
    const sameUser = await this.tryUsers();
    const weaknesses = [
      filtered && `commands may make every system call, since a filter of them does not work: ${filtered}`,
      sameUser && `commands of this worker belong to root outside of the sandbox: ${sameUser}`,
    ].filter((it) => it !== undefined);
    return {
      name: this.name,
      ok: true,
      isolation: 'namespaces',
      detail: `bwrap works; commands have ${network}`,
      ...(weaknesses.length > 0 && { weakness: weaknesses.join('; ') }),
    };
  }

  /** Reason why commands of a worker that runs as root have no user of their own. Undefined if they have, or for other workers. */
  private async tryUsers(): Promise<string | undefined> {
    if (!isRoot()) return undefined;
    if (this.filter === undefined) return 'that needs the filter of system calls';
    this.mapsUsers = true;
    const folder = await mkdtemp(join(tmpdir(), 'toolyard-user-'));
    try {
      const user = userOfTenant('');
      await chown(folder, user, user);
      const fault = await this.fault(folder);
      if (fault !== undefined) this.mapsUsers = false;
      return fault;
    } catch (error) {
      this.mapsUsers = false;
      return error instanceof Error ? error.message : String(error);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  /** Reason why commands do not run in the sandbox. */
  private async fault(folder = tmpdir()): Promise<string | undefined> {
    try {
      const command = this.wrap({ file: '/usr/bin/true', args: [], cwd: folder, env: {} }, folder);
      const { exit, stderr } = await runProcess(command, { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS), graceMs: 0 });
      if (exit.how === 'exited' && exit.code === 0) return undefined;
      return `bwrap does not work here (are user namespaces allowed?): ${stderr.text.trim().slice(0, 300)}`;
    } catch (error) {
      return `bwrap could not be tried: ${error instanceof Error ? error.message : String(error)}`;
    }
  }
}

/** True if this version can forbid namespaces inside, which closes a large part of the kernel. */
function canDisableNamespaces(bwrap: string): Promise<boolean> {
  return new Promise((resolve) => {
    execFile(bwrap, ['--help'], { timeout: PROBE_TIMEOUT_MS }, (_error, stdout, stderr) =>
      resolve(`${stdout}${stderr}`.includes('--disable-userns')),
    );
  });
}
