import { findExecutable, SandboxRegistry } from '#tools';
import type { GatewayConfig } from '../../gateway/src/gateway.config.js';
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

/** What a config file brings, by number. */
export interface ConfigFacts {
  readonly path: string;
  readonly keys: number;
  readonly agents: number;
  readonly hooks: number;
}

/** Undefined without a config file. */
export function configFactsOf({ file, keys, agents = {}, hooks = [] }: GatewayConfig): ConfigFacts | undefined {
  if (file === undefined) return undefined;
  const perAgent = Object.values(agents).flatMap((byName) => Object.values(byName));
  return {
    path: file.path,
    keys: keys.filter(({ id }) => id !== 'bootstrap').length,
    agents: perAgent.length,
    hooks: hooks.length + perAgent.reduce((sum, agent) => sum + (agent.hooks?.length ?? 0), 0),
  };
}
