import { Injectable } from '@nestjs/common';
import { MissingRequiredClientCapabilityError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Principal } from '#contracts';
import { TaskChanges } from '../calls/task-changes.service.js';
import { featuresOfMeta, TASKS_EXTENSION } from '../wire/client-features.js';
import { jsonRpcError } from '../wire/json-rpc-error.js';
import type { TaskNotifications } from '../wire/task-stream.js';

const MAX_TASKS = 100;
const WRONG = `Invalid params: notifications.taskIds: expected at most ${MAX_TASKS} texts`;

const Listen = z.looseObject({
  id: z.union([z.string(), z.number()]),
  params: z.looseObject({
    _meta: z.looseObject({}),
    notifications: z.looseObject({ taskIds: z.unknown().optional(), toolsListChanged: z.unknown().optional() }),
  }),
});
const TaskIds = z.array(z.string()).max(MAX_TASKS);

/** A `subscriptions/listen` that names tasks. */
export interface TaskListen {
  /** Body for the SDK, which would close a stream without a known kind of notification. */
  readonly body: unknown;
  /** True if the client also listens for changes of the tools. */
  readonly hasTools: boolean;
  /** `close`: ends the stream with its result, once no more notifications follow. */
  notificationsTo(close: () => void): TaskNotifications;
}

/** `taskIds` of `subscriptions/listen`, by the tasks extension. */
@Injectable()
export class TaskListens {
  constructor(private readonly changes: TaskChanges) {}

  /** Undefined for a request without tasks, or a malformed one, which the SDK answers. A response is the error for the client. */
  async of(principal: Principal, body: unknown): Promise<TaskListen | Response | undefined> {
    const { data } = Listen.safeParse(body);
    if (data?.params.notifications.taskIds === undefined) return undefined;
    const { id, params } = data;
    const { taskIds: named, ...others } = params.notifications;
    const features = featuresOfMeta(params._meta);
    if (!features.tasks) return missingCapability(id);
    const wanted = TaskIds.safeParse(named);
    if (!wanted.success) return jsonRpcError(200, ProtocolErrorCode.InvalidParams, WRONG, id);
    const caller = { principal, features };
    const taskIds = await this.changes.known(caller, wanted.data);
    const hasTools = others.toolsListChanged === true;
    return {
      body: { ...data, params: { ...params, notifications: { ...others, toolsListChanged: true } } },
      hasTools,
      notificationsTo: (close) => ({
        taskIds,
        subscriptionId: id,
        hasTools,
        start: (notify) => {
          const left = new Set(taskIds);
          const over = (taskId: string) => {
            left.delete(taskId);
            if (left.size === 0 && !hasTools) close();
          };
          if (left.size === 0 && !hasTools) close();
          const watches = taskIds.map((taskId) =>
            this.changes.watch(caller, taskId, { changed: ({ resultType: _type, ...task }) => notify(task), over: () => over(taskId) }),
          );
          return () => {
            for (const stop of watches) stop();
          };
        },
      }),
    };
  }
}

function missingCapability(id: string | number): Response {
  const { code, message, data } = new MissingRequiredClientCapabilityError({
    requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } },
  });
  return Response.json({ jsonrpc: '2.0', id, error: { code, message, data } }, { status: 400 });
}
