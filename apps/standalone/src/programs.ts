import { SandboxRegistry, findExecutable } from '#sandbox';
import type { RunningWorker } from '../../worker/src/main.js';

/** The programs of this machine that tools use. */
export interface Programs {
  /** The sandbox of commands; absent if this worker runs none. */
  readonly sandbox: ReturnType<SandboxRegistry['status']>['shell'];
  /** Whether ripgrep is installed: without it `file_search` and `glob` fail. */
  readonly ripgrep: boolean;
}

export function programsOf(worker: RunningWorker): Programs {
  return { sandbox: worker.app.get(SandboxRegistry).status().shell, ripgrep: findExecutable(['rg']) !== undefined };
}
