import { ROUTES, type Diagnostics, type LoginOptions, type Me, type Principal, type ResponseOf, type SignedOut } from '#contracts';
import type { RequestOptions } from '../client-options.js';
import type { HttpTransport } from '../http/http-transport.js';

/** Response of `GET /readyz` of a gateway that accepts traffic. */
export type Ready = ResponseOf<typeof ROUTES.ready>;

/** The gateway itself. */
export class GatewayApi {
  constructor(private readonly http: HttpTransport) {}

  /** Checks readiness with one attempt. Rejects with `overloaded` and the reason while the gateway accepts no traffic. */
  ready(options: RequestOptions = {}): Promise<Ready> {
    return this.http.request(ROUTES.ready, { retry: false, ...options });
  }

  /** Owner and scopes of this client's API key. */
  whoAmI(options: RequestOptions = {}): Promise<Principal> {
    return this.http.request(ROUTES.whoAmI, options);
  }

  /** Like `whoAmI`, with the signed-in person. */
  me(options: RequestOptions = {}): Promise<Me> {
    return this.http.request(ROUTES.getMe, options);
  }

  /** Sign-in methods, and whether the browser has a login cookie. */
  loginOptions(options: RequestOptions = {}): Promise<LoginOptions> {
    return this.http.request(ROUTES.loginOptions, options);
  }

  /** Ends the login of the browser's cookie on all gateways. */
  signOut(options: RequestOptions = {}): Promise<SignedOut> {
    return this.http.request(ROUTES.signOut, options);
  }

  /** Versions, clocks and Redis settings; needs a key with the scope `operate`. */
  diagnostics(options: RequestOptions = {}): Promise<Diagnostics> {
    return this.http.request(ROUTES.getDiagnostics, options);
  }
}
