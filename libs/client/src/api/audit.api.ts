import { ROUTES, type ActPage, type QueryInputOf } from '#contracts';
import type { RequestOptions } from '../client-options.js';
import type { HttpTransport } from '../http/http-transport.js';

/** Administrative acts of the tenant. Needs the scope `admin`. */
export class AuditApi {
  constructor(private readonly http: HttpTransport) {}

  /** Page of acts, newest first. */
  list(query: QueryInputOf<typeof ROUTES.listActs> = {}, options: RequestOptions = {}): Promise<ActPage> {
    return this.http.request(ROUTES.listActs, { query, ...options });
  }
}
