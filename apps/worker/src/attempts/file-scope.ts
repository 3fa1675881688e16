import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { PathDenials, type FileAccess } from '#contracts';
import { denialReason, mayDenyBelow, unaskedReason } from '#policy';
import { DigestCache, type ContentAddressedStore } from '#redis';
import { type DeniedPaths, type SharedRoot, ToolError, type Workspace } from '#tool-sdk';
import type { FileScopeSettings } from '../platform/file-scope.config.js';

/** System folders without files: secrets of processes, and devices. */
const NEVER_OPENED = ['/proc', '/sys', '/dev'];

/**
 * Limits a call's workspace to the paths in the decision about the call: without paths the call has its workspace only,
 * whatever the worker shares.
 */
export class FileScope {
  private readonly cache: DigestCache<PathDenials>;
  private readonly closed: readonly string[];
  private readonly roots: readonly (SharedRoot & { readonly real: string })[];

  constructor(
    private readonly settings: FileScopeSettings,
    store: Pick<ContentAddressedStore, 'get'>,
  ) {
    this.cache = new DigestCache(
      (digest) => store.get(digest),
      (json) => PathDenials.parse(json),
    );
    const { sharedRoots, ownFolders, locks } = settings;
    this.closed = [...NEVER_OPENED, ...ownFolders.flatMap((folder) => [folder, realOf(folder)])];
    this.roots = sharedRoots.map((it) => ({ ...it, locks, real: realOf(it.path) }));
  }

  /** `configured`: path of the workspace in the gateway. Rejects if the denied paths of the call are no longer stored. */
  async of(workspace: Workspace, configured: string, tool: string, files: FileAccess | undefined): Promise<Workspace> {
    if (files === undefined) return workspace;
    const roots = this.rootsFor(files.roots ?? []);
    const named = files.opened ?? [];
    const opened = named.filter(({ path }) => this.canOpen(path)).map((it) => ({ ...it, locks: this.settings.locks }));
    const unopened = named.filter(({ path }) => !this.canOpen(path)).map(({ path }) => path);
    const denials = files.denials === undefined ? undefined : await this.denials(files.denials);
    return {
      ...workspace,
      ...(roots.length === 0 ? {} : { roots }),
      ...(opened.length === 0 ? {} : { opened }),
      ...(unopened.length === 0 ? {} : { unavailable: unopened }),
      ...(denials === undefined ? {} : { denied: this.deniedBy(denials, tool, workspace.root, configured) }),
    };
  }

  /** Intersection of the folders of decision and operator: the inner one of two folders, with the access that both allow. */
  private rootsFor(named: NonNullable<FileAccess['roots']>): SharedRoot[] {
    return named.flatMap(({ path, access }) =>
      this.roots
        .filter((shared) => isWithin(path, shared.path) || isWithin(shared.path, path))
        .map((shared) => ({
          path: isWithin(path, shared.path) ? path : shared.path,
          access: access === 'write' && shared.access === 'write' ? ('write' as const) : ('read' as const),
          locks: shared.locks,
        })),
    );
  }

  private canOpen(path: string): boolean {
    return (
      this.settings.outsideRoots.some((root) => isWithin(path, root)) &&
      !this.closed.some((folder) => isWithin(path, folder) || isWithin(folder, path))
    );
  }

  private async denials(digest: string): Promise<PathDenials> {
    const denials = await this.cache.get(digest);
    if (denials === undefined)
      throw new ToolError('internal', 'The denied paths of the call are not stored any more. Submit the call again.', { retryable: false });
    return denials;
  }

  /** Denied paths under both paths of a folder, configured and real, since a rule may use either. */
  private deniedBy(denials: PathDenials, tool: string, root: string, configured: string): DeniedPaths {
    const names = [{ path: configured, real: root }, ...this.roots].filter(({ path, real }) => path !== real);
    const facts = { denials, tool, workspaceRoot: configured };
    const spellings = (path: string) => [
      path,
      ...names.flatMap((it) => [rebase(path, it.real, it.path), rebase(path, it.path, it.real)]).filter((it) => it !== undefined),
    ];
    return {
      denialReason: (path, access) => {
        for (const it of spellings(path)) {
          const why = denialReason(it, access, facts);
          if (why !== undefined) return why.replace('{path}', 'it');
        }
        return undefined;
      },
      unaskedReason: (path) => {
        const within = spellings(path).filter((it) => isWithin(it, configured));
        const reasons = within.map((it) => unaskedReason(it, facts));
        return reasons.includes(undefined) ? undefined : reasons[0]?.replace('{path}', 'it');
      },
      ...(denials.eachPathAsked === undefined ? {} : { eachPathAsked: true }),
      mayDenyBelow: (folder) => spellings(folder).some((it) => mayDenyBelow(it, facts)),
    };
  }
}

function rebase(path: string, from: string, to: string): string | undefined {
  return isWithin(path, from) ? join(to, path.slice(from.length)) : undefined;
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
}

function realOf(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}
