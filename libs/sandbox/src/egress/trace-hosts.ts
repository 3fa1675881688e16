/** Hosts that may know which trace a request belongs to. A trace id shows which requests belong together, so only named hosts get it. */
export class TraceHosts {
  private readonly hosts: ReadonlySet<string>;

  /** `host` (any port) or `host:port`, as they stand in a URL. */
  constructor(hosts: readonly string[] = []) {
    this.hosts = new Set(hosts);
  }

  /** The headers for a request to this place. */
  headers(url: URL, traceparent: string | undefined): { traceparent?: string } {
    if (traceparent === undefined || !(this.hosts.has(url.hostname) || this.hosts.has(url.host))) return {};
    return { traceparent };
  }
}
