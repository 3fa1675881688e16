/** Keys of calls whose content is encrypted in the archive, stored outside of it, where they can be deleted. */
export interface ContentKeys {
  /** Makes a key for each of the calls without one, erased ones excluded. On return the keys survive a power loss. */
  make(calls: readonly { readonly callId: string; readonly tenantId: string }[]): Promise<void>;
  /** Keys of the calls that ever had one; null for an erased call. */
  read(callIds: readonly string[]): Promise<ReadonlyMap<string, Buffer | null>>;
}

/** Policy of the encryption of archived content. */
export interface ContentPolicy {
  /** Store of the keys; undefined without one. */
  readonly keys: ContentKeys | undefined;
  /** Tenants whose new calls are encrypted. Called before each segment; an error stops sealing. */
  readonly tenants: () => readonly string[];
}
