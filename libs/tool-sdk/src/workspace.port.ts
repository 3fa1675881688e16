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
  /**
   * Reason why later commands run the content of a file, such as `.git/config`; undefined for other files. The path is relative
   * to its folder.
   */
  readonly autoRunReason?: (path: string) => string | undefined;
  /** Host on which commands of the call run. The files are on that host: `root` contains nothing of the call. */
  readonly onHost?: string;
  /** Present when the size of the workspace is limited. Shared roots and opened paths have no quota. */
  readonly quota?: WorkspaceQuota;
}

interface MeasuredWorkspace {
  readonly failure: ToolError | undefined;
  readonly tookMs: number;
  readonly left: { readonly bytes: number; readonly files: number };
}

/** Remaining growth of the files of a workspace. */
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
  /**
   * Measures now. `failure` when the quota is exceeded, for files by more than `overdrawn`. `tookMs`: duration of the measurement.
   * `left` as of `remaining`.
   */
  measure(overdrawn: number): Promise<MeasuredWorkspace>;
}

/** Paths that a call may not touch, inside its own workspace too. */
export interface DeniedPaths {
  /** Reason why an absolute path (`..` and links resolved) is denied; undefined if allowed. Linear in the length of the path. */
  denialReason(path: string, access: 'read' | 'write'): string | undefined;
  /** Reason why the call may not write a path that was not approved; undefined if allowed. The path is as for `denialReason`. */
  unaskedReason?(path: string): string | undefined;
  /** True if each path of the workspace needs its own approval, so that none implies another. */
  readonly eachPathAsked?: boolean;
  /** False when nothing below the folder is denied, so that it need not be searched. */
  mayDenyBelow(folder: string): boolean;
}

/** Folder or file outside of the workspaces. `locks`: folder for lock files of writers, outside of `path`. */
export interface SharedRoot {
  readonly path: string;
  readonly access: 'read' | 'write';
  readonly locks: string;
}
