import type { z } from 'zod';

/** What a schema found wrong, one text a fault: `path: message`. `whole` stands for the path of the value itself. */
export function validationFaults({ issues }: z.ZodError, whole = 'value'): string[] {
  return issues.map(({ path, message }) => `${path.join('.') || whole}: ${message}`);
}
