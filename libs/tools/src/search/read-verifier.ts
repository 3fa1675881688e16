import { type ResolvedFile, isWithin, openBeneath, readWorkspaceFile } from '#sandbox';
import type { ToolContext } from '#tool-sdk';
import { displayPath, type SearchTarget } from './search-target.js';

const LIMIT = { bytes: 16 * 1_048_576, hint: '' };

/** Text as read by ripgrep: by its byte order mark, which is not part of the first line. Invalid bytes become U+FFFD. */
function textOf(bytes: Buffer): string {
  const mark = bytes.toString('hex', 0, 2);
  return new TextDecoder(mark === 'fffe' ? 'utf-16le' : mark === 'feff' ? 'utf-16be' : 'utf-8').decode(bytes);
}

/**
 * Verifies what ripgrep reports without a sandbox, by reading the file again beneath the searched folder. A line or name that is
 * not there came from outside, or is gone by now, and is left out.
 */
export class ReadVerifier {
  private current: { path: string; lines: readonly string[] } | undefined;

  constructor(
    private readonly target: SearchTarget,
    private readonly ctx: Pick<ToolContext, 'signal'>,
  ) {}

  /** Cheap while the lines of one file come one after another. */
  async hasLine(path: string, number: number, line: string): Promise<boolean> {
    if (this.current?.path !== path) this.current = { path, lines: await this.linesOf(path) };
    return this.current.lines[number - 1]?.replace(/\r$/, '') === line;
  }

  async hasFile(path: string): Promise<boolean> {
    try {
      const handle = await openBeneath(this.placeOf(path));
      await handle.close();
      return true;
    } catch {
      return false;
    }
  }

  private async linesOf(path: string): Promise<readonly string[]> {
    try {
      const { bytes } = await readWorkspaceFile(this.placeOf(path), LIMIT, this.ctx.signal);
      return textOf(bytes).split('\n');
    } catch {
      this.ctx.signal.throwIfAborted();
      return [];
    }
  }

  /** Place of a path reported by ripgrep, relative to its working directory. */
  private placeOf(path: string): ResolvedFile {
    const { place, root } = this.target;
    const from = isWithin(root, place.root) ? root.slice(place.root.length).split('/') : [];
    const names = [...from, ...displayPath(path).split('/')].filter((name) => name !== '' && name !== '.');
    return { ...place, path: { names, displayPath: displayPath(path) } };
  }
}
