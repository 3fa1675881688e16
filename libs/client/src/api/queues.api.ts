import { z } from 'zod';
import { QueueStatus } from '#contracts';
import type { RequestOptions } from '../client-options.js';
import type { HttpTransport } from '../http/http-transport.js';

const Queues = z.object({ queues: z.array(QueueStatus) });

/** How much waits, by pool. */
export class QueuesApi {
  constructor(private readonly http: HttpTransport) {}

  async list(options: RequestOptions = {}): Promise<QueueStatus[]> {
    return (await this.http.json({ method: 'GET', path: '/v1/queues', repeatable: true, ...options }, Queues)).queues;
  }
}
