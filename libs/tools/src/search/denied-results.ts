import { lstat } from 'node:fs/promises';
import { absolutePath, findDeniedEntries } from '#sandbox';
import type { ToolContext } from '#tool-sdk';
import { displayPath, type SearchTarget } from './search-target.js';

/** Removes denied files from results, under any of their names. Costs nothing if nothing is denied. */
export class DeniedResults {
  private last: { readonly path: string; readonly allowed: boolean } | undefined;
  private links: Promise<ReadonlySet<string> | undefined> | undefined;

  constructor(
    private readonly target: SearchTarget,
    private readonly ctx: Pick<ToolContext, 'signal'>,
  ) {}

  /** True if a path reported by ripgrep is allowed. Checked once for consecutive lines of a file. */
  async allows(path: string): Promise<boolean> {
    const { denied } = this.target.place;
    if (denied === undefined) return true;
    if (this.last?.path !== path) this.last = { path, allowed: await this.evaluate(path) };
    return this.last.allowed;
  }

  private async evaluate(path: string): Promise<boolean> {
    const { place, root } = this.target;
    const absolute = absolutePath(root, displayPath(path).split('/'));
    if (place.denied?.denialReason(absolute, 'read') !== undefined) return false;
    const stats = await lstat(absolute).catch(() => undefined);
    if (stats === undefined || stats.nlink < 2) return true;
    const links = await (this.links ??= this.linksToDenied());
    return links !== undefined && !links.has(absolute);
  }

  /** Undefined when the folder is too large to know. */
  private async linksToDenied(): Promise<ReadonlySet<string> | undefined> {
    const { place, root } = this.target;
    if (place.denied === undefined) return new Set();
    const { links, complete } = await findDeniedEntries([place.root === '/' ? root : place.root], place.denied, 'read', this.ctx.signal);
    return complete ? new Set(links) : undefined;
  }
}
