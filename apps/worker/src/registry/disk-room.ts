import { statfs } from 'node:fs/promises';

/** How much room the disk of the workspaces has. Asked for beside other work: a disk that does not answer delays no beat. */
export class DiskRoom {
  private known: { readonly freeBytes: number; readonly totalBytes: number } | undefined;
  private asking = false;

  constructor(private readonly folder: string) {
    this.ask();
  }

  /** As it was at the last answer; undefined before the first. */
  get latest(): { readonly freeBytes: number; readonly totalBytes: number } | undefined {
    this.ask();
    return this.known;
  }

  private ask(): void {
    if (this.asking) return;
    this.asking = true;
    statfs(this.folder)
      .then(({ bavail, blocks, bsize }) => (this.known = { freeBytes: bavail * bsize, totalBytes: blocks * bsize }))
      .catch(() => (this.known = undefined))
      .finally(() => (this.asking = false));
  }
}
