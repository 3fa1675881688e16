import type { z } from 'zod';

/** Faults of a schema validation, one text per fault: `path: message`. `whole`: name of the value itself. */
export function validationFaults({ issues }: z.ZodError, whole = 'value'): string[] {
  return issues.map(({ path, message }) => `${path.join('.') || whole}: ${message}`);
}
