/** The keys of calls whose content is encrypted in the archive, as retention sees them. */
export interface RetainedKeys {
  /** Tenants that have keys. */
  tenants(): Promise<readonly string[]>;
  /** Calls of a tenant that have a key and were submitted before, in ascending order of their ids after `after`. */
  older(query: OlderCalls): Promise<readonly string[]>;
  /** From here on no one reads the content of these calls. What it deleted survives a power loss when it returns. */
  delete(callIds: readonly string[]): Promise<void>;
  /** Also that they ever had one: nothing is left that was encrypted with it. */
  forget(callIds: readonly string[]): Promise<void>;
}

export interface OlderCalls {
  readonly tenantId: string;
  readonly partition: string;
  readonly submittedBefore: number;
  /** Empty: from the first. */
  readonly after: string;
  readonly limit: number;
}
