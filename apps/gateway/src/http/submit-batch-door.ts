import { z } from 'zod';
import { BATCH_LIMITS, BatchCallBody, SubmitBatchBody } from '#contracts';
import { SubmitCallDoor } from './submit-call-door.js';

/** SubmitBatchBody for a body that was parsed from JSON; as with single calls, arguments are not walked again. */
export const SubmitBatchDoor = z.strictObject({
  ...SubmitBatchBody.shape,
  calls: z
    .array(z.strictObject({ ...BatchCallBody.shape, arguments: SubmitCallDoor.shape.arguments }))
    .min(1)
    .max(BATCH_LIMITS.calls),
});
