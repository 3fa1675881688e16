import type { ProcessCommand } from '../process/run-process.js';
import { Sandbox, type SandboxReport } from './sandbox.port.js';

/** No isolation: for development and for workers that are isolated as a whole (a container or machine of their own). */
export class HostSandbox extends Sandbox {
  readonly name = 'host';

  async probe(): Promise<SandboxReport> {
    return {
      name: this.name,
      ok: true,
      isolation: 'none',
      detail: 'commands run with the rights of the worker; set SANDBOX=bubblewrap to isolate them',
    };
  }

  wrap(command: ProcessCommand): ProcessCommand {
    return command;
  }
}
