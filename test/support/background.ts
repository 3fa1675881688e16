import { z } from 'zod';
import type { Call } from '#contracts';

const Details = z.object({ taskId: z.string() });

/** The id of the run that a call of `shell` started in the background. */
export function taskOf({ result }: Call): string {
  return Details.parse(result?.details).taskId;
}
