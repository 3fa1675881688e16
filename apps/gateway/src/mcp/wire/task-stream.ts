import { SUBSCRIPTION_ID_META_KEY } from '@modelcontextprotocol/server';
import { z } from 'zod';

/** Notifications in a stream of `subscriptions/listen` besides the SDK's. */
export interface TaskNotifications {
  /** Tasks that the acknowledgement names. */
  readonly taskIds: readonly string[];
  /** Id of the `subscriptions/listen` request. */
  readonly subscriptionId: unknown;
  /** False omits changes of tools from the acknowledgement. */
  readonly hasTools: boolean;
  /** Called after the acknowledgement. Returns a function that ends the notifications. */
  readonly start: (notify: (task: Record<string, unknown>) => void) => () => void;
}

const Acknowledgement = z.looseObject({
  params: z.looseObject({ notifications: z.looseObject({ toolsListChanged: z.boolean().optional() }) }),
});
const decoder = new TextDecoder();
const encoder = new TextEncoder();

/**
 * Adds notifications of tasks, which the SDK does not know, to its stream. The first chunk is the acknowledgement; all others
 * pass unchanged.
 */
export function withTaskNotifications(response: Response, tasks: TaskNotifications): Response {
  if (response.body === null) return response;
  const source: ReadableStreamDefaultReader<Uint8Array> = response.body.getReader();
  let stop = () => {};
  const body = new ReadableStream<Uint8Array>({
    start: async (controller) => {
      const first = await source.read();
      if (first.done) return controller.close();
      controller.enqueue(encoder.encode(acknowledged(decoder.decode(first.value), tasks)));
      stop = tasks.start((task) => controller.enqueue(encoder.encode(notification(task, tasks.subscriptionId))));
      void passOn(source, controller).finally(() => stop());
    },
    cancel: (reason) => {
      stop();
      return source.cancel(reason);
    },
  });
  return new Response(body, { status: response.status, headers: response.headers });
}

async function passOn(
  source: ReadableStreamDefaultReader<Uint8Array>,
  controller: ReadableStreamDefaultController<Uint8Array>,
): Promise<void> {
  try {
    for (;;) {
      const { done, value } = await source.read();
      if (done) return controller.close();
      controller.enqueue(value);
    }
  } catch {
    // Client disconnected.
  }
}

function acknowledged(frame: string, { taskIds, hasTools }: TaskNotifications): string {
  return frame.replace(/^data: (.*)$/m, (_line, json: string) => {
    const { params, ...message } = Acknowledgement.parse(JSON.parse(json));
    const { toolsListChanged, ...others } = params.notifications;
    const notifications = { ...others, ...(hasTools ? { toolsListChanged } : {}), taskIds };
    return `data: ${JSON.stringify({ ...message, params: { ...params, notifications } })}`;
  });
}

function notification(task: Record<string, unknown>, subscriptionId: unknown): string {
  const params = { ...task, _meta: { [SUBSCRIPTION_ID_META_KEY]: subscriptionId } };
  return `event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/tasks', params })}\n\n`;
}
