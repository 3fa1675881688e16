/** Keys of calls whose content is encrypted in the archive, for retention. */
export interface RetainedKeys {
  /** Tenants that have keys. */
  tenants(): Promise<readonly string[]>;
  /** Calls of a tenant with a key that were submitted before a time, ascending by id after `after`. */
  older(query: OlderCalls): Promise<readonly string[]>;
  /** Deletes the keys, which makes the content of these calls unreadable. On return the deletion survives a power loss. */
  delete(callIds: readonly string[]): Promise<void>;
  /** Deletes the records of the keys, after all content encrypted with them is gone. */
  forget(callIds: readonly string[]): Promise<void>;
}

export interface OlderCalls {
  readonly tenantId: string;
  readonly partition: string;
  readonly submittedBefore: number;
  /** Id after which to begin; empty: from the first. */
  readonly after: string;
  readonly limit: number;
}
