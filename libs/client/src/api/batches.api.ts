import { ROUTES, type Batch, type BodyInputOf } from '#contracts';
import type { RequestOptions } from '../client-options.js';
import type { HttpTransport } from '../http/http-transport.js';
import { submitInput, waitSeconds, type SubmitOptions, type WaitOptions } from './submit-options.js';
import { waitUntil } from './wait-until.js';

/** Calls of one model turn, in the form of `POST /v1/batches`. */
export type BatchSubmission = BodyInputOf<typeof ROUTES.submitBatch>;

/** Batches: results come in the order of the calls. */
export class BatchesApi {
  constructor(private readonly http: HttpTransport) {}

  /** Submits like `calls.submit`. */
  submit(batch: BatchSubmission, options: SubmitOptions = {}): Promise<Batch> {
    return this.http.request(ROUTES.submitBatch, { body: batch, ...submitInput(options) });
  }

  /** Submits and waits until every call has ended. */
  async run(batch: BatchSubmission, options: SubmitOptions = {}): Promise<Batch> {
    return waitUntil(
      options,
      (poll) => this.submit(batch, { ...options, ...poll }),
      ({ status }) => status === 'ended',
      ({ id }, poll) => this.get(id, poll),
    );
  }

  get(batchId: string, { waitMs, ...options }: WaitOptions = {}): Promise<Batch> {
    const query = { wait: waitMs === undefined ? undefined : waitSeconds(waitMs) };
    return this.http.request(ROUTES.getBatch, { params: { id: batchId }, query, waitMs, ...options });
  }

  /** Stops the batch and its calls. Resolves with the current batch. Safe to repeat. */
  cancel(batchId: string, body: BodyInputOf<typeof ROUTES.cancelBatch> = {}, options: RequestOptions = {}): Promise<Batch> {
    return this.http.request(ROUTES.cancelBatch, { params: { id: batchId }, body, ...options });
  }

  /** Resolves with the ended batch. */
  wait(batchId: string, options: RequestOptions = {}): Promise<Batch> {
    return waitUntil(
      options,
      (poll) => this.get(batchId, { ...options, ...poll }),
      ({ status }) => status === 'ended',
      ({ id }, poll) => this.get(id, poll),
    );
  }
}
