import type { IncomingHttpHeaders } from 'node:http';
import { LOGIN_HEADER, ProblemError } from '#contracts';

const READS: readonly string[] = ['GET', 'HEAD'];

/**
 * Rejects login cookies from other origins. Browsers send the cookie automatically, so a change needs the gateway's `Origin`
 * and a header that no form and no page of another origin can set.
 * @throws ProblemError `origin_refused`
 */
export function assertSameOrigin(method: string, headers: IncomingHttpHeaders, origin: string): void {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none')
    throw new ProblemError('origin_refused', `The cookie of a login is for pages of ${origin}; this request comes from another site`);
  if (READS.includes(method)) return;
  if (headers.origin !== origin)
    throw new ProblemError('origin_refused', `A request with the cookie of a login needs the header Origin: ${origin}`);
  if (headers[LOGIN_HEADER] !== '1')
    throw new ProblemError('origin_refused', `A request with the cookie of a login needs the header ${LOGIN_HEADER}: 1`);
}
