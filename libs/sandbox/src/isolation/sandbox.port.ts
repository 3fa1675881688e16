import { findExecutable } from '../process/find-executable.js';
import type { ProcessCommand } from '../process/run-process.js';

/** Isolation available on this machine, determined by a trial. */
export interface SandboxReport {
  readonly name: SandboxName;
  /** Commands can be run in it. */
  readonly ok: boolean;
  /** `none`: the command has the view and the rights of the worker. `namespaces`: its own files, processes and users. */
  readonly isolation: 'none' | 'namespaces';
  /** Detail for the operator: the available parts, or the missing ones with instructions. */
  readonly detail: string;
  /** Weakness for the operator: missing isolation on this machine, though commands run. */
  readonly weakness?: string;
}

/** `none` runs nothing at all. */
export type SandboxName = 'host' | 'bubblewrap' | 'none';

/** Parts of the machine that a command sees besides the system and its workspace, and parts of these that are hidden. Real paths. */
export interface SandboxView {
  readonly visible: readonly { readonly path: string; readonly access: 'read' | 'write' }[];
  readonly hidden: readonly { readonly path: string; readonly directory: boolean }[];
  readonly readOnly: readonly string[];
  /** `none`: the command has no network in any sandbox. */
  readonly network?: 'none' | undefined;
}

/** Environment of a tool's programs. The class is the injection token; backends wrap a command differently. */
export abstract class Sandbox {
  abstract readonly name: SandboxName;
  /** Network access of commands. */
  abstract readonly network: 'none' | 'host';
  /** Tries the sandbox; a success is not tried again. Never rejects: failures are in the report. */
  abstract probe(): Promise<SandboxReport>;
  /** Absolute path of the first of `names` that commands can run, searched in `path`; undefined if there is none. */
  findProgram(names: readonly string[], path?: string): string | undefined {
    return findExecutable(names, path);
  }
  /** User id of a tenant's commands, and owner of its workspaces. Undefined: that of this process. */
  userOf(_tenantId: string): number | undefined {
    return undefined;
  }
  /**
   * The command that runs `command` inside. `workspace` is absolute, is seen at the same path inside, and is writable. A
   * sandbox without isolation shows everything whatever `view` says.
   */
  abstract wrap(command: ProcessCommand, workspace: string, view?: SandboxView): ProcessCommand;
}
