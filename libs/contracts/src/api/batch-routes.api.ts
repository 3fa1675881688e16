import { z } from 'zod';
import { CancelBody } from './calls.api.js';
import { BODY, KEY, type Route } from './route.api.js';
import { Batch, BatchId, SubmitBatchBody } from './batches.api.js';
import { SubmitHeaders, WaitQuery } from './route-parts.api.js';

const BatchIdParams = z.object({ id: BatchId.describe('The id of the batch.') });

export const BATCH_ROUTES = {
  submitBatch: {
    method: 'post',
    path: '/v1/batches',
    idempotent: true,
    tag: 'batches',
    scope: 'submit',
    summary: 'Submit the calls of one model turn',
    headers: SubmitHeaders,
    body: SubmitBatchBody,
    responses: {
      200: {
        description: 'Every call has ended; results in call order.',
        schema: Batch,
        headers: ['Location', 'Preference-Applied'],
      },
      202: { description: 'Accepted and durable.', schema: Batch, headers: ['Location', 'Preference-Applied'] },
    },
    problems: [...BODY, ...KEY, 'idempotency_key_reused', 'overloaded'],
  },
  getBatch: {
    method: 'get',
    path: '/v1/batches/{id}',
    tag: 'batches',
    scope: 'read',
    summary: 'Read one batch; `wait` polls for its end',
    params: BatchIdParams,
    query: WaitQuery,
    responses: { 200: { description: 'The batch as it is now, results in call order.', schema: Batch } },
    problems: [...KEY, 'resource_not_found'],
  },
  cancelBatch: {
    method: 'post',
    path: '/v1/batches/{id}/cancel',
    idempotent: true,
    tag: 'calls',
    scope: 'cancel',
    summary: 'Stop a batch and its calls; safe to repeat',
    params: BatchIdParams,
    body: CancelBody,
    bodyOptional: true,
    responses: { 202: { description: 'The batch, stopped or on the way to it; one that has ended is as it was.', schema: Batch } },
    problems: [...BODY, ...KEY, 'resource_not_found', 'conflict'],
  },
} as const satisfies Record<string, Route>;
