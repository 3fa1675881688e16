import { ApprovalPage, type ListCallsQuery } from '#contracts';
import type { RequestOptions } from '../client-options.js';
import type { HttpTransport } from '../http/http-transport.js';

/** Calls that wait for a person; answer with `calls.decide`. */
export class ApprovalsApi {
  constructor(private readonly http: HttpTransport) {}

  list(query: Partial<Pick<ListCallsQuery, 'cursor' | 'limit'>> = {}, options: RequestOptions = {}): Promise<ApprovalPage> {
    return this.http.json({ method: 'GET', path: '/v1/approvals', query, repeatable: true, ...options }, ApprovalPage);
  }
}
