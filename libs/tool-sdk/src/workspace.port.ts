import type { ToolError } from './tool-error.js';

/**
 * The files of the call's session. `root` is absolute and exists. Tools touch nothing outside of `root`, `roots` and `opened`.
 * Open files with the functions of `#sandbox`, which enforce this.
 */
export interface Workspace {
  readonly root: string;
  /** Other folders of this machine that the decision about the call names; reached by absolute paths. */
  readonly roots?: readonly SharedRoot[];
  /** Paths outside of all folders that a person or the policy opened for this call. Never opened through a symbolic link. */
  readonly opened?: readonly SharedRoot[];
  /** Paths that the decision opens and the operator of this worker does not. */
  readonly unavailable?: readonly string[];
  /** Present when paths are denied to the call. */
  readonly denied?: DeniedPaths;
  /** Why later commands run what a file says, such as `.git/config`; undefined where they do not. The path is below its folder. */
  readonly autoRunReason?: (path: string) => string | undefined;
  /** The host on which commands of the call run. Its files are there: nothing of the call is in `root`. */
  readonly onHost?: string;
  /** Present when the size of the workspace is limited. Shared roots and opened paths have no quota. */
  readonly quota?: WorkspaceQuota;
}

/** How much the files of a workspace may still grow. */
export interface WorkspaceQuota {
  /**
   * Counts bytes and files before they are written. A negative growth is always accepted.
   * @throws ToolError `quota_exceeded` when the growth does not fit
   */
  reserve(growth: { readonly bytes: number; readonly files: number }): Promise<void>;
  /**
   * Bytes and files left for a command; 0 or negative when the quota is used up.
   * @throws ToolError `quota_exceeded` when there are so many files that no command may run
   */
  remaining(): Promise<{ readonly bytes: number; readonly files: number }>;
  /** Marks the count as outdated after uncounted writes. The workspace is measured before the next count is used. */
  invalidate(): void;
  /** Measures now. `failure` when the quota is exceeded, for files by more than `overdrawn`. `tookMs`: duration of the measurement. */
  measure(overdrawn: number): Promise<{ readonly failure: ToolError | undefined; readonly tookMs: number }>;
}

/** Paths that a call may not touch, inside its own workspace too. */
export interface DeniedPaths {
  /** Why an absolute path (`..` and links resolved) is denied; undefined when it is not. Linear in the length of the path. */
  denialReason(path: string, access: 'read' | 'write'): string | undefined;
  /** Why the call may not write this path, about which no person was asked; undefined when it may. The path is as that of `denialReason`. */
  unaskedReason?(path: string): string | undefined;
  /** A person is asked about each path of the workspace: what is said about one suggests no other. */
  readonly eachPathAsked?: boolean;
  /** False when nothing below the folder is denied, so that it need not be searched. */
  mayDenyBelow(folder: string): boolean;
}

/** A folder or file outside of the workspaces. `locks` is the folder for lock files of writers; it is not inside `path`. */
export interface SharedRoot {
  readonly path: string;
  readonly access: 'read' | 'write';
  readonly locks: string;
}
