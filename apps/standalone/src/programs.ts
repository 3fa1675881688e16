import { RemoteHosts, SandboxRegistry, findExecutable } from '#sandbox';
import type { RunningWorker } from '../../worker/src/main.js';

/** The programs of this machine that tools use. */
export interface Programs {
  /** The sandbox of commands; absent if this worker runs none. */
  readonly sandbox: ReturnType<SandboxRegistry['status']>['shell'];
  /** Hosts over ssh on which commands of some calls run. */
  readonly hosts: ReturnType<RemoteHosts['status']>;
  /** True if ripgrep is installed: `file_search` and `glob` fail without it. */
  readonly ripgrep: boolean;
}

export function programsOf(worker: RunningWorker): Programs {
  const { app } = worker;
  const [sandboxes, hosts] = [app.get(SandboxRegistry), app.get(RemoteHosts)];
  return { sandbox: sandboxes.status().shell, hosts: hosts.status(), ripgrep: findExecutable(['rg']) !== undefined };
}
