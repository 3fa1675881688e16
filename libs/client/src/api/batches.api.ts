import type { z } from 'zod';
import { Batch, type CancelBody, type SubmitBatchBody } from '#contracts';
import type { RequestOptions } from '../client-options.js';
import type { HttpTransport } from '../http/http-transport.js';
import { newIdempotencyKey } from '../http/idempotency-key.js';
import type { SubmitOptions } from './calls.api.js';
import { pathOf } from './path.js';
import { waitUntil } from './wait-until.js';

/** The calls of one model turn, as `POST /v1/batches` takes them. */
export type BatchSubmission = z.input<typeof SubmitBatchBody>;

/** Batches: results come in the order of the calls. */
export class BatchesApi {
  constructor(private readonly http: HttpTransport) {}

  /** As `calls.submit`. */
  submit(batch: BatchSubmission, { idempotencyKey, waitMs, traceparent, ...options }: SubmitOptions = {}): Promise<Batch> {
    const headers = {
      'idempotency-key': idempotencyKey ?? newIdempotencyKey(),
      ...(waitMs === undefined ? {} : { prefer: `wait=${Math.ceil(waitMs / 1000)}` }),
      ...(traceparent === undefined ? {} : { traceparent }),
    };
    return this.http.json({ method: 'POST', path: '/v1/batches', body: batch, headers, waitMs, repeatable: true, ...options }, Batch);
  }

  /** Submits and waits until every call has ended. */
  async run(batch: BatchSubmission, options: SubmitOptions = {}): Promise<Batch> {
    return waitUntil(
      options,
      (share) => this.submit(batch, { ...options, ...share }),
      ({ status }) => status === 'ended',
      ({ id }, share) => this.get(id, share),
    );
  }

  get(batchId: string, { waitMs, ...options }: RequestOptions & { readonly waitMs?: number | undefined } = {}): Promise<Batch> {
    const query = { wait: waitMs === undefined ? undefined : Math.ceil(waitMs / 1000) };
    return this.http.json({ method: 'GET', path: pathOf`/v1/batches/${batchId}`, query, waitMs, repeatable: true, ...options }, Batch);
  }

  /** Stops the batch and its calls; answered as it is then. Safe to repeat. */
  cancel(batchId: string, body: z.input<typeof CancelBody> = {}, options: RequestOptions = {}): Promise<Batch> {
    return this.http.json({ method: 'POST', path: pathOf`/v1/batches/${batchId}/cancel`, body, repeatable: true, ...options }, Batch);
  }

  wait(batchId: string, options: RequestOptions = {}): Promise<Batch> {
    return waitUntil(
      options,
      (share) => this.get(batchId, { ...options, ...share }),
      ({ status }) => status === 'ended',
      ({ id }, share) => this.get(id, share),
    );
  }
}
