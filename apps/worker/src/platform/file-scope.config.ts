import type { SharedRoot } from '#tool-sdk';

/** What calls may reach outside their workspaces, where the decision about them says so. */
export interface FileScopeSettings {
  /** Folders that the operator shares between sessions. A call reaches those that its policy names. */
  readonly sharedRoots: readonly Omit<SharedRoot, 'locks'>[];
  /** Folders in which an approval or a trust rule may open paths outside the workspace. */
  readonly outsideRoots: readonly string[];
  /** Folders of this installation: files of other sessions, keys, Redis data. Nothing opens them. */
  readonly ownFolders: readonly string[];
  /** The folder of the lock files that writers take. */
  readonly locks: string;
}
