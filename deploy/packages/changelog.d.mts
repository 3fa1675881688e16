export interface ReleaseCommit {
  readonly hash: string;
  readonly subject: string;
  readonly body: string;
}

export function commitsOf(folder: string): ReleaseCommit[] | undefined;
export function changelogOf(version: string, commits: readonly ReleaseCommit[]): string;
