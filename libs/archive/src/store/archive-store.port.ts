/** Store of an archive: named values that are written once. Names are relative paths, such as `segments/p07/g1/x.json`. */
export interface ArchiveStore {
  /** Create-only: an existing name keeps its content. On return the value survives a power loss. */
  put(name: string, bytes: Uint8Array): Promise<'created' | 'exists'>;
  /** Undefined for an unknown name. @throws ArchiveCorrupt above `MAX_VALUE_BYTES` */
  get(name: string): Promise<Buffer | undefined>;
  /** Names under `prefix` in ascending order, after the name `after`, at most `limit` (default 1,000). */
  list(prefix: string, options?: { after?: string; limit?: number }): Promise<string[]>;
  /** No effect for an unknown name. */
  delete(name: string): Promise<void>;
  /** Text for messages, without secrets. */
  readonly label: string;
}

/** Limit above any written value; prevents a hostile archive from filling the memory of its reader. */
export const MAX_VALUE_BYTES = 128 * 1_048_576;

export const MAX_LISTED = 1_000;

/** @throws TypeError for a name that could leave the archive or that is reserved */
export function checkName(name: string): void {
  if (!/^[\w-][\w.-]*(\/[\w-][\w.-]*)*$/.test(name) || name.length > 512)
    throw new TypeError(`Expected the name of a value, got ${JSON.stringify(name)}.`);
}
