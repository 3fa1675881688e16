import type { SharedRoot } from '#tool-sdk';

/** Paths outside their workspaces that decisions may open for calls. */
export interface FileScopeSettings {
  /** Folders that the operator shares between sessions; each call needs a policy that names them. */
  readonly sharedRoots: readonly Omit<SharedRoot, 'locks'>[];
  /** Folders in which an approval or a trust rule may open paths outside the workspace. */
  readonly outsideRoots: readonly string[];
  /** Folders of this installation, never opened: files of other sessions, keys, Redis data. */
  readonly ownFolders: readonly string[];
  /** Folder of the lock files of writers. */
  readonly locks: string;
}
