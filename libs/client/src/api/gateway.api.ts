import { z } from 'zod';
import { Diagnostics, Principal } from '#contracts';
import type { RequestOptions } from '../client-options.js';
import type { HttpTransport } from '../http/http-transport.js';

const Ready = z.object({ status: z.literal('ok'), warnings: z.array(z.string()).optional() });
/** What `GET /readyz` says of a gateway that takes traffic. */
export type Ready = z.output<typeof Ready>;

/** The gateway itself. */
export class GatewayApi {
  constructor(private readonly http: HttpTransport) {}

  /** Rejects with `overloaded` and the obstacle while the gateway takes no traffic. */
  ready(options: RequestOptions = {}): Promise<Ready> {
    return this.http.json({ method: 'GET', path: '/readyz', repeatable: false, ...options }, Ready);
  }

  /** Whose key this client has, and its scopes. */
  whoAmI(options: RequestOptions = {}): Promise<Principal> {
    return this.http.json({ method: 'GET', path: '/v1/whoami', repeatable: true, ...options }, Principal);
  }

  /** Versions, clocks and Redis's settings; needs a key with the scope `operate`. */
  diagnostics(options: RequestOptions = {}): Promise<Diagnostics> {
    return this.http.json({ method: 'GET', path: '/v1/diagnostics', repeatable: true, ...options }, Diagnostics);
  }
}
