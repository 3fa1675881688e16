import { ROUTES, type QueueStatus } from '#contracts';
import type { RequestOptions } from '../client-options.js';
import type { HttpTransport } from '../http/http-transport.js';

/** Depth of the queues, by pool. */
export class QueuesApi {
  constructor(private readonly http: HttpTransport) {}

  async list(options: RequestOptions = {}): Promise<QueueStatus[]> {
    return (await this.http.request(ROUTES.listQueues, options)).queues;
  }
}
