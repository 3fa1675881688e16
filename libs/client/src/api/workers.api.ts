import { z } from 'zod';
import { WorkerStatus } from '#contracts';
import type { RequestOptions } from '../client-options.js';
import type { HttpTransport } from '../http/http-transport.js';
import { pathOf } from './path.js';

const Workers = z.object({ workers: z.array(WorkerStatus) });

/** Who is alive, and what runs there. */
export class WorkersApi {
  constructor(private readonly http: HttpTransport) {}

  async list(options: RequestOptions = {}): Promise<WorkerStatus[]> {
    return (await this.http.json({ method: 'GET', path: '/v1/workers', repeatable: true, ...options }, Workers)).workers;
  }

  /** The worker takes no more calls and ends what it runs; safe to repeat. Needs the scope `operate`. */
  drain(workerId: string, options: RequestOptions = {}): Promise<void> {
    return this.http.nothing({ method: 'POST', path: pathOf`/v1/workers/${workerId}/drain`, repeatable: true, ...options });
  }
}
