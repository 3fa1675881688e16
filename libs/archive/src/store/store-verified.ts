import { ArchiveConflict } from '../archive-errors.js';
import type { ArchiveStore } from './archive-store.port.js';

/**
 * Puts a value and reads it back: what is about to leave Redis must be in the archive. Repeating it does no harm.
 *
 * @param isSame whether what an earlier attempt stored is as good; by default only the same bytes are
 * @throws ArchiveConflict when the store does not give back what was written
 */
export async function storeVerified(
  store: ArchiveStore,
  name: string,
  bytes: Uint8Array,
  isSame: (stored: Buffer) => boolean = () => false,
): Promise<void> {
  await store.put(name, bytes);
  const stored = await store.get(name);
  if (stored === undefined) throw new ArchiveConflict(name, 'was written, and the store does not have it');
  if (!stored.equals(bytes) && !isSame(stored)) throw new ArchiveConflict(name, 'holds other bytes than those that were written');
}
