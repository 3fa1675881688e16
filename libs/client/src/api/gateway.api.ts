import { ROUTES, type Diagnostics, type Principal, type ResponseOf } from '#contracts';
import type { RequestOptions } from '../client-options.js';
import type { HttpTransport } from '../http/http-transport.js';

/** The response of `GET /readyz` of a gateway that accepts traffic. */
export type Ready = ResponseOf<typeof ROUTES.ready>;

/** The gateway itself. */
export class GatewayApi {
  constructor(private readonly http: HttpTransport) {}

  /** One attempt. Rejects with `overloaded` and the reason while the gateway accepts no traffic. */
  ready(options: RequestOptions = {}): Promise<Ready> {
    return this.http.request(ROUTES.ready, { retry: false, ...options });
  }

  /** The owner and the scopes of this client's API key. */
  whoAmI(options: RequestOptions = {}): Promise<Principal> {
    return this.http.request(ROUTES.whoAmI, options);
  }

  /** Versions, clocks and Redis's settings; needs a key with the scope `operate`. */
  diagnostics(options: RequestOptions = {}): Promise<Diagnostics> {
    return this.http.request(ROUTES.getDiagnostics, options);
  }
}
