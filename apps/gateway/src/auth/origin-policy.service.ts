import { isIP } from 'node:net';
import { Inject, Injectable } from '@nestjs/common';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/gateway.config.js';

const LOOPBACK_NAMES: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Protects a gateway on a private machine or network against foreign web pages:
 * - Host: a gateway bound to loopback answers only to loopback names and GATEWAY_ALLOWED_HOSTS, which prevents DNS rebinding;
 *   one bound elsewhere checks the header only if GATEWAY_ALLOWED_HOSTS is set;
 * - Origin: a browser's request must come from the same host or from one of GATEWAY_ALLOWED_ORIGINS. Programs send none.
 */
@Injectable()
export class OriginPolicy {
  private readonly hosts: ReadonlySet<string> | undefined;
  private readonly origins: ReadonlySet<string>;
  /** Last Host header that passed, which most requests repeat. */
  private lastHost: string | undefined;

  constructor(@Inject(GATEWAY_CONFIG) config: GatewayConfig) {
    const loopback = isLoopback(config.host);
    const named = config.allowedHosts.map((host) => host.toLowerCase());
    this.hosts = loopback || named.length > 0 ? new Set([...(loopback ? LOOPBACK_NAMES : []), ...named]) : undefined;
    this.origins = new Set(config.allowedOrigins.map((origin) => new URL(origin).origin));
  }

  /** Reason for the rejection of a request; undefined if it is allowed. */
  rejectionReason(headers: { readonly host?: string | undefined; readonly origin?: string | undefined }): string | undefined {
    const host = headers.host?.toLowerCase() ?? '';
    if (host !== this.lastHost && this.hosts !== undefined && !this.hosts.has(host) && !this.hosts.has(withoutPort(host))) {
      return `the Host header names ${JSON.stringify(host)}; expected ${[...this.hosts].join(', ')} (GATEWAY_ALLOWED_HOSTS adds names)`;
    }
    this.lastHost = host;
    const { origin } = headers;
    if (origin === undefined || this.origins.has(origin) || (URL.canParse(origin) && new URL(origin).host === host)) return undefined;
    return `the Origin ${JSON.stringify(origin)} is neither this host nor one of GATEWAY_ALLOWED_ORIGINS`;
  }
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.')) || host.startsWith('/');
}

function withoutPort(host: string): string {
  return host.replace(/:\d+$/, '');
}
