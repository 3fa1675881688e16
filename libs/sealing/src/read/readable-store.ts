import { ArchiveCorrupt, type ArchiveStore } from '#archive';
import { ArchiveUnavailable } from '#event-log';

/** Wraps a store so that reads reject with `ArchiveUnavailable` while it is unreachable, since values must not look missing then. */
export function readableStore(store: ArchiveStore): ArchiveStore {
  const failed = (error: unknown): never => {
    if (error instanceof ArchiveCorrupt) throw error;
    throw new ArchiveUnavailable(error instanceof Error ? error.message : String(error), { cause: error });
  };
  return {
    label: store.label,
    put: (name, bytes) => store.put(name, bytes),
    get: (name) => store.get(name).catch(failed),
    list: (prefix, options) => store.list(prefix, options).catch(failed),
    delete: (name) => store.delete(name),
  };
}
