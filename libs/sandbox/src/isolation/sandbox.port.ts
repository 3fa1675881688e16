import { findExecutable } from '../process/find-executable.js';
import type { ProcessCommand } from '../process/run-process.js';

/** What a sandbox really gives on this machine, found out by trying it. */
export interface SandboxReport {
  readonly name: SandboxName;
  /** Commands can be run in it. */
  readonly ok: boolean;
  /** `none`: the command sees and may do what the worker sees and may do. `namespaces`: its own files, processes and users. */
  readonly isolation: 'none' | 'namespaces';
  /** For the operator: what is there, or what is missing and how to get it. */
  readonly detail: string;
  /** For the operator: what of the isolation this machine does not give, though commands run. */
  readonly weakness?: string;
}

/** `none` runs nothing at all. */
export type SandboxName = 'host' | 'bubblewrap' | 'none';

/** Parts of the machine that a command sees besides the system and its workspace, and parts of these that are hidden. Real paths. */
export interface SandboxView {
  readonly visible: readonly { readonly path: string; readonly access: 'read' | 'write' }[];
  readonly hidden: readonly { readonly path: string; readonly directory: boolean }[];
  readonly readOnly: readonly string[];
  /** `none`: the command has no network, whatever the sandbox gives. */
  readonly network?: 'none' | undefined;
}

/** Where a tool's programs run. The class is the injection token; backends differ in what they put around a command. */
export abstract class Sandbox {
  abstract readonly name: SandboxName;
  /** Whether commands reach the network. */
  abstract readonly network: 'none' | 'host';
  /** Tries the sandbox; what was found to work is not tried again. Never rejects: what does not work is in the report. */
  abstract probe(): Promise<SandboxReport>;
  /** The absolute path of the first of `names` that commands can run, looked for where `path` says; undefined when there is none. */
  findProgram(names: readonly string[], path?: string): string | undefined {
    return findExecutable(names, path);
  }
  /** The id of the user whose commands of a tenant are, and who owns their workspaces. Undefined: that of this process. */
  userOf(_tenantId: string): number | undefined {
    return undefined;
  }
  /**
   * The command that runs `command` inside. `workspace` is absolute, is seen at the same path inside, and is writable. A
   * sandbox without isolation shows everything whatever `view` says.
   */
  abstract wrap(command: ProcessCommand, workspace: string, view?: SandboxView): ProcessCommand;
}
