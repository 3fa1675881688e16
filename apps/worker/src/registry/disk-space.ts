import { statfs } from 'node:fs/promises';

/** Free space on the disk of the workspaces, read in the background, so that a disk without response delays no heartbeat. */
export class DiskSpace {
  private reading: { readonly freeBytes: number; readonly totalBytes: number } | undefined;
  private pending = false;

  constructor(private readonly folder: string) {
    this.refresh();
  }

  /** The last reading; undefined before the first. */
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
