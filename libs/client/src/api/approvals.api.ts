import { ROUTES, type ApprovalPage, type QueryInputOf } from '#contracts';
import type { RequestOptions } from '../client-options.js';
import type { HttpTransport } from '../http/http-transport.js';

/** Calls that wait for a person; decide with `calls.decide`. */
export class ApprovalsApi {
  constructor(private readonly http: HttpTransport) {}

  list(query: QueryInputOf<typeof ROUTES.listApprovals> = {}, options: RequestOptions = {}): Promise<ApprovalPage> {
    return this.http.request(ROUTES.listApprovals, { query, ...options });
  }
}
