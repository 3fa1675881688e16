/** Which hosts the policy of the call's agent lets a tool reach, besides what the worker allows. */
export interface EgressLimits {
  /** Why the URL may not be requested; undefined when it may. Ask for each hop: the first URL, redirects, links, parts of a page. */
  refusalOf(url: URL): string | undefined;
  /** Whether the policy names this host among those that may be private. */
  allowsPrivate(hostname: string, port: string): boolean;
}
