/** Hosts that the policy of the call's agent allows for a tool, within the limits of the worker. */
export interface EgressLimits {
  /**
   * Reason why the URL may not be requested; undefined if allowed. Required for each hop: the first URL, redirects, links,
   * parts of a page.
   */
  refusalOf(url: URL): string | undefined;
  /** True if the policy lists this host among those that may be private. */
  allowsPrivate(hostname: string, port: string): boolean;
}
