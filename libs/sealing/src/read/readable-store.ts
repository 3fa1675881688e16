import { ArchiveCorrupt, type ArchiveStore } from '#archive';
import { ArchiveUnavailable } from '#event-log';

/** The same store, whose reads reject with `ArchiveUnavailable` while it is away: what it has must not look as if it were not there. */
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
