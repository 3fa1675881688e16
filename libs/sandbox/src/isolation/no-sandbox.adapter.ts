import type { ProcessCommand } from '../process/run-process.js';
import type { ResourceLimits } from '../process/resource-limits.js';
import { DEFAULT_LIMITS } from './default-limits.js';
import { Sandbox, type SandboxReport } from './sandbox.port.js';

/** No isolation, only limits: for development and for workers that are isolated as a whole (a container or machine of their own). */
export class NoSandbox extends Sandbox {
  readonly name = 'host';
  readonly network = 'host';

  constructor(private readonly limits: ResourceLimits = DEFAULT_LIMITS) {
    super();
  }

  async probe(): Promise<SandboxReport> {
    return {
      name: this.name,
      ok: true,
      isolation: 'none',
      detail: 'commands run with the rights of the worker and see also what is denied to a call; set SANDBOX=bubblewrap to isolate them',
    };
  }

  wrap(command: ProcessCommand): ProcessCommand {
    return { ...command, limits: this.limits };
  }
}
