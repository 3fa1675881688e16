import { z } from 'zod';
import { BATCH_LIMITS, BatchCallBody, SubmitBatchBody } from '#contracts';
import { SubmitCallRequest } from '../calls/submit-call-request.js';

/** SubmitBatchBody for a body parsed from JSON; as for single calls, arguments are not walked again. */
export const SubmitBatchRequest = z.strictObject({
  ...SubmitBatchBody.shape,
  calls: z
    .array(z.strictObject({ ...BatchCallBody.shape, arguments: SubmitCallRequest.shape.arguments }))
    .min(1)
    .max(BATCH_LIMITS.calls),
});
