import { statfs } from 'node:fs/promises';

/** How much room the disk of the workspaces has. Asked for beside other work: a disk that does not answer delays no beat. */
export class DiskSpace {
  private reading: { readonly freeBytes: number; readonly totalBytes: number } | undefined;
  private pending = false;

  constructor(private readonly folder: string) {
    this.refresh();
  }

  /** As it was at the last answer; undefined before the first. */
  get latest(): { readonly freeBytes: number; readonly totalBytes: number } | undefined {
    this.refresh();
    return this.reading;
  }

  private refresh(): void {
    if (this.pending) return;
    this.pending = true;
    statfs(this.folder)
      .then(({ bavail, blocks, bsize }) => (this.reading = { freeBytes: bavail * bsize, totalBytes: blocks * bsize }))
      .catch(() => (this.reading = undefined))
      .finally(() => (this.pending = false));
  }
}
