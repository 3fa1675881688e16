import { ROUTES, type BodyInputOf, type PolicyTestResult } from '#contracts';
import type { RequestOptions } from '../client-options.js';
import type { HttpTransport } from '../http/http-transport.js';

/** Evaluation of policies. Needs the scope `admin`. */
export class PolicyApi {
  constructor(private readonly http: HttpTransport) {}

  /** Recorded calls that another configuration would decide differently. Nothing runs. */
  test(body: BodyInputOf<typeof ROUTES.testPolicy>, options: RequestOptions = {}): Promise<PolicyTestResult> {
    return this.http.request(ROUTES.testPolicy, { body, ...options });
  }
}
