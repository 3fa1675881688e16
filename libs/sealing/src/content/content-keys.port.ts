/** The keys of calls whose content is encrypted in the archive: kept where they can be deleted, never in the archive. */
export interface ContentKeys {
  /** Makes a key for each of the calls that has none, also no erased one. What it made survives a power loss when it returns. */
  make(calls: readonly { readonly callId: string; readonly tenantId: string }[]): Promise<void>;
  /** The keys of those calls that ever had one; null for one that was erased. */
  read(callIds: readonly string[]): Promise<ReadonlyMap<string, Buffer | null>>;
}

/** Which content is encrypted before it is archived. */
export interface ContentPolicy {
  /** Undefined: there is no place for keys. */
  readonly keys: ContentKeys | undefined;
  /** Tenants whose new calls are. Asked before each segment; what it throws stops sealing. */
  readonly tenants: () => readonly string[];
}
