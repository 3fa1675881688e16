import { lstatSync, readlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { findExecutable } from '../process/find-executable.js';
import { runProcess, type ProcessCommand } from '../process/run-process.js';
import { Sandbox, type SandboxReport } from './sandbox.port.js';

const INSTALL = 'install bubblewrap (Debian: apt-get install bubblewrap) or set SANDBOX=host';
const PROBE_TIMEOUT_MS = 5_000;
/** What programs under /usr need from outside it: libraries' cache, alternatives, certificates. */
const SYSTEM_FILES = ['/etc/ld.so.cache', '/etc/alternatives', '/etc/ssl', '/etc/ca-certificates'];

/**
 * Namespaces by `bwrap`: the system under /usr read-only, the workspace writable, an own /tmp and /proc, no network, no
 * capabilities, the user `nobody`. Everything inside dies with bwrap, and bwrap with the worker. The command is not told
 * to stop before it is killed: the signal ends bwrap, which takes the rest with it.
 */
export class BubblewrapSandbox extends Sandbox {
  readonly name = 'bubblewrap';

  constructor(private readonly bwrap = findExecutable(['bwrap'])) {
    super();
  }

  async probe(): Promise<SandboxReport> {
    const failed = (detail: string): SandboxReport => ({ name: this.name, ok: false, isolation: 'none', detail });
    if (this.bwrap === undefined) return failed(`bwrap is not installed: ${INSTALL}`);
    try {
      const command = this.wrap({ file: '/usr/bin/true', args: [], cwd: tmpdir(), env: {} }, tmpdir());
      const { ending, stderr } = await runProcess(command, { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS), graceMs: 0 });
      if (ending.how === 'exited' && ending.code === 0)
        return { name: this.name, ok: true, isolation: 'namespaces', detail: 'bwrap works' };
      return failed(`bwrap does not work here (are user namespaces allowed?): ${stderr.text.trim().slice(0, 300)}; ${INSTALL}`);
    } catch (error) {
      return failed(`bwrap could not be tried: ${error instanceof Error ? error.message : String(error)}; ${INSTALL}`);
    }
  }

  wrap(command: ProcessCommand, workspace: string): ProcessCommand {
    const parts = [
      ['--ro-bind', '/usr', '/usr', ...topFolders(), ...SYSTEM_FILES.flatMap((file) => ['--ro-bind-try', file, file])],
      ['--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp', '--bind', workspace, workspace, '--chdir', command.cwd],
      ['--unshare-all', '--unshare-user', '--uid', '65534', '--gid', '65534', '--cap-drop', 'ALL', '--new-session', '--die-with-parent'],
      ['--', command.file, ...command.args],
    ];
    return { file: this.bwrap ?? 'bwrap', args: parts.flat(), cwd: workspace, env: command.env };
  }
}

/** `/bin`, `/lib` and the like are links into /usr on most systems and folders of their own on some. */
function topFolders(): string[] {
  return ['/bin', '/sbin', '/lib', '/lib32', '/lib64'].flatMap((folder) => {
    const found = lstatSync(folder, { throwIfNoEntry: false });
    if (found === undefined) return [];
    return found.isSymbolicLink() ? ['--symlink', readlinkSync(folder), folder] : ['--ro-bind', folder, folder];
  });
}
