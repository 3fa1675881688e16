import { ROUTES, type BodyInputOf, type PolicyTestResult } from '#contracts';
import type { RequestOptions } from '../client-options.js';
import type { HttpTransport } from '../http/http-transport.js';

/** What policy would say. Needs the scope `admin`. */
export class PolicyApi {
  constructor(private readonly http: HttpTransport) {}

  /** Which recorded calls another configuration would judge otherwise. Nothing runs. */
  test(body: BodyInputOf<typeof ROUTES.testPolicy>, options: RequestOptions = {}): Promise<PolicyTestResult> {
    return this.http.request(ROUTES.testPolicy, { body, ...options });
  }
}
