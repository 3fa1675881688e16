import { MAX_LISTED, type ArchiveStore } from './archive-store.port.js';

/** Lists all names under a prefix in ascending order, in pages. */
export async function* listAll(store: ArchiveStore, prefix: string): AsyncGenerator<string> {
  for (let after = ''; ;) {
    const page = await store.list(prefix, { after, limit: MAX_LISTED });
    yield* page;
    if (page.length < MAX_LISTED) return;
    after = page.at(-1) ?? after;
  }
}
