import type { ToolContext } from '../tool.port.js';
import { openBeneath } from '../workspace/open-beneath.js';
import { readWorkspaceFile } from '../workspace/workspace-file.js';
import { parseWorkspacePath } from '../workspace/workspace-path.js';

const LIMIT = { bytes: 16 * 1_048_576, hint: '' };

/**
 * Says whether what an unconfined ripgrep reports is true of the workspace, by looking for itself on a way that cannot
 * leave. A line or name that is not there came from outside, or is gone meanwhile: nobody gets to see it.
 */
export class FileWitness {
  private current: { path: string; lines: readonly string[] } | undefined;

  constructor(private readonly ctx: Pick<ToolContext, 'workspace' | 'signal'>) {}

  /** Cheap while the lines of one file come one after another. */
  async hasLine(path: string, number: number, line: string): Promise<boolean> {
    if (this.current?.path !== path) this.current = { path, lines: await this.linesOf(path) };
    return this.current.lines[number - 1]?.replace(/\r$/, '') === line;
  }

  async hasFile(path: string): Promise<boolean> {
    try {
      const handle = await openBeneath(this.ctx.workspace.root, parseWorkspacePath(this.ctx.workspace.root, path));
      await handle.close();
      return true;
    } catch {
      return false;
    }
  }

  private async linesOf(path: string): Promise<readonly string[]> {
    const { root } = this.ctx.workspace;
    try {
      const { bytes } = await readWorkspaceFile(root, parseWorkspacePath(root, path), LIMIT, this.ctx.signal);
      return bytes.toString('utf8').split('\n');
    } catch {
      this.ctx.signal.throwIfAborted();
      return [];
    }
  }
}
