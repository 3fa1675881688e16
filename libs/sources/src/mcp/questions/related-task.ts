import { z } from 'zod';

/** Revision 2025-11-25: names the task to which a request of the server belongs. */
const RELATED_TASK = 'io.modelcontextprotocol/related-task';
const Related = z.object({ _meta: z.object({ [RELATED_TASK]: z.object({ taskId: z.string() }) }) });

export function relatedTask(params: unknown): string | undefined {
  return Related.safeParse(params).data?._meta[RELATED_TASK].taskId;
}
