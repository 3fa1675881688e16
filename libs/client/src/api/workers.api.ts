import { ROUTES, type WorkerStatus } from '#contracts';
import type { RequestOptions } from '../client-options.js';
import type { HttpTransport } from '../http/http-transport.js';

/** Live workers, and the calls they run. */
export class WorkersApi {
  constructor(private readonly http: HttpTransport) {}

  async list(options: RequestOptions = {}): Promise<WorkerStatus[]> {
    return (await this.http.request(ROUTES.listWorkers, options)).workers;
  }

  /** Drains the worker: it accepts no more calls and finishes its running ones. Safe to repeat. Needs the scope `operate`. */
  drain(workerId: string, options: RequestOptions = {}): Promise<void> {
    return this.http.send(ROUTES.drainWorker, { params: { id: workerId }, ...options });
  }
}
