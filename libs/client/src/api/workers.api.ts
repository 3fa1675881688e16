import { z } from 'zod';
import { WorkerStatus } from '#contracts';
import type { RequestOptions } from '../client-options.js';
import type { HttpTransport } from '../http/http-transport.js';

const Workers = z.object({ workers: z.array(WorkerStatus) });

/** Who is alive, and what runs there. */
export class WorkersApi {
  constructor(private readonly http: HttpTransport) {}

  async list(options: RequestOptions = {}): Promise<WorkerStatus[]> {
    return (await this.http.json({ method: 'GET', path: '/v1/workers', repeatable: true, ...options }, Workers)).workers;
  }
}
