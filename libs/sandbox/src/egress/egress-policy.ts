import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { EgressLimits } from '#tool-sdk';
import { privateAddressReason } from './address.js';
import { EgressError, displayUrl } from './egress-error.js';
import { isOwnAddress } from './own-addresses.js';

export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

/** All addresses of a host name, in the order to try them; rejects like `dns.lookup`. */
export type Resolve = (hostname: string) => Promise<readonly ResolvedAddress[]>;

const systemResolve: Resolve = (hostname) => lookup(hostname, { all: true, verbatim: true });

/** Ports above 1023 that speak other protocols, from "bad ports" of the WHATWG Fetch standard. */
const BAD_PORTS = new Set([
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
]);

/**
 * Allowed targets of tools: public addresses of other machines over http and https, and the operator's hosts. Every address of
 * a name must be public, and the connection uses exactly the checked addresses, so a name that resolves differently a moment
 * later has no effect.
 */
export class EgressPolicy {
  private readonly trusted: ReadonlySet<string>;
  private limits: EgressLimits | undefined;

  /** `allowHosts`: `host` (any port) or `host:port`, in the form of a URL; these may be private and use any port. */
  constructor(
    allowHosts: readonly string[] = [],
    private readonly resolve: Resolve = systemResolve,
    private readonly isOwn: (address: string) => boolean = isOwnAddress,
  ) {
    this.trusted = new Set(allowHosts.map((host) => host.trim().toLowerCase()).filter((host) => host !== ''));
  }

  /** The hosts that need not be public, in lower case. */
  get allowHosts(): readonly string[] {
    return [...this.trusted];
  }

  /** Copy of this policy, limited by the policy of an agent. */
  limitedTo(limits: EgressLimits | undefined): EgressPolicy {
    if (limits === undefined) return this;
    const limited = new EgressPolicy(this.allowHosts, this.resolve, this.isOwn);
    limited.limits = limits;
    return limited;
  }

  /** True if both have the same limits. */
  isSameAs({ limits }: EgressPolicy): boolean {
    return limits === this.limits;
  }

  /** The URL that may be requested, or an EgressError. A host name is not looked up yet: `addresses` does that when connecting. */
  check(text: string, base?: URL): URL {
    const url = URL.canParse(text, base?.href) ? new URL(text, base) : undefined;
    if (url === undefined)
      throw new EgressError('invalid', `Not a valid URL: ${displayUrl(text)}. Give an absolute URL such as https://example.com/page`);
    if (url.protocol !== 'http:' && url.protocol !== 'https:')
      throw new EgressError('blocked', `Blocked: only http and https URLs can be fetched, not ${url.protocol.slice(0, -1)}`);
    if (url.username !== '' || url.password !== '')
      throw new EgressError('blocked', 'Blocked: the URL must not contain a user name or password');
    if (!this.trusts(url.hostname, url.port)) this.checkPublic(url);
    const refusal = this.limits?.refusalOf(url);
    if (refusal !== undefined) throw new EgressError('blocked', refusal);
    return url;
  }

  /** The addresses to connect to for this host, all of them checked; else an EgressError or the resolver's error. */
  async addresses(hostname: string, port: string): Promise<readonly ResolvedAddress[]> {
    const found = await this.resolve(hostname);
    if (this.trusts(hostname, port)) return found;
    const why = found.map(({ address }) => this.refusalOf(address)).find((reason) => reason !== undefined);
    if (why !== undefined) throw new EgressError('blocked', `Blocked: ${hostname} resolves to ${why}. ${ONLY_PUBLIC}`);
    return found;
  }

  private checkPublic(url: URL): void {
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const why = isIP(host) === 0 ? undefined : this.refusalOf(host);
    if (why !== undefined) throw new EgressError('blocked', `Blocked: ${host} is ${why}. ${ONLY_PUBLIC}`);
    const port = url.port === '' ? undefined : Number(url.port);
    if (port !== undefined && ((port < 1024 && port !== 80 && port !== 443) || BAD_PORTS.has(port))) {
      throw new EgressError('blocked', `Blocked: port ${port} is not a web port`);
    }
  }

  /** Reason as a text that fits after "is" or "resolves to". */
  private refusalOf(address: string): string | undefined {
    return privateAddressReason(address) ?? (this.isOwn(address) ? 'an address of this machine' : undefined);
  }

  private trusts(hostname: string, port: string): boolean {
    if (this.limits?.allowsPrivate(hostname, port) === false) return false;
    return this.trusted.has(hostname) || this.trusted.has(`${hostname}:${port}`);
  }
}

const ONLY_PUBLIC = 'Only public internet addresses can be fetched.';
