import { SandboxRegistry, findExecutable } from '#sandbox';
import type { RunningWorker } from '../../worker/src/main.js';

/** The programs of this machine that tools run, and how. */
export interface Programs {
  /** Of commands; absent where this worker runs none. */
  readonly sandbox: ReturnType<SandboxRegistry['status']>['shell'];
  /** Whether ripgrep is there: without it `file_search` and `glob` fail. */
  readonly ripgrep: boolean;
}

export function programsOf(worker: RunningWorker): Programs {
  return { sandbox: worker.app.get(SandboxRegistry).status().shell, ripgrep: findExecutable(['rg']) !== undefined };
}
