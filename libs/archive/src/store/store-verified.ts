import { ArchiveConflict } from '../archive-errors.js';
import type { ArchiveStore } from './archive-store.port.js';

/**
 * Puts a value and reads it back, before its original leaves Redis. Safe to repeat.
 *
 * @param isSame accepts the value of an earlier attempt; default: only equal bytes
 * @throws ArchiveConflict if the store returns another value
 */
export async function storeVerified(
  store: ArchiveStore,
  name: string,
  bytes: Uint8Array,
  isSame: (stored: Buffer) => boolean = () => false,
): Promise<void> {
  await store.put(name, bytes);
  const stored = await store.get(name);
  if (stored === undefined) throw new ArchiveConflict(name, 'was written, but is missing in the store');
  if (!stored.equals(bytes) && !isSame(stored)) throw new ArchiveConflict(name, 'holds other bytes than those that were written');
}
