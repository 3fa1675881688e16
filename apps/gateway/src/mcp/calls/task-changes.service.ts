import { Injectable } from '@nestjs/common';
import type { Result } from '@modelcontextprotocol/server';
import { EventHub, upcastEvent, type Delivery } from '#event-log';
import { CallTasks, type TaskCaller } from './call-tasks.service.js';
import { OwnedCalls } from './owned-calls.service.js';

const OVER: ReadonlySet<unknown> = new Set(['completed', 'failed', 'cancelled']);

export interface TaskListener {
  /** Task in its state in `tasks/get`. */
  readonly changed: (task: Result) => void;
  /** Called once when no more changes follow, unless the watch is closed before. */
  readonly over: () => void;
}

/** Follows tasks for the status notifications of `subscriptions/listen`. */
@Injectable()
export class TaskChanges {
  constructor(
    private readonly hub: EventHub,
    private readonly owned: OwnedCalls,
    private readonly tasks: CallTasks,
  ) {}

  /** Ids that are tasks of this key, without duplicates. */
  async known({ principal }: TaskCaller, taskIds: readonly string[]): Promise<string[]> {
    const found = await Promise.all([...new Set(taskIds)].map((id) => this.owned.find(principal, id)));
    return found.flatMap((call) => call?.id ?? []);
  }

  /** Reports the current task, and the task after each change. Returns a function that ends the watch; idempotent. */
  watch(caller: TaskCaller, taskId: string, { changed, over }: TaskListener): () => void {
    let last = '';
    let isOver = false;
    let looking = false;
    let isStale = false;
    const close = () => {
      isOver = true;
      subscription.close();
    };
    const end = () => {
      if (isOver) return;
      close();
      over();
    };
    const look = async (): Promise<void> => {
      isStale = true;
      if (looking) return;
      looking = true;
      while (isStale && !isOver) {
        isStale = false;
        const task = await this.tasks.get(caller, taskId);
        const text = JSON.stringify(task);
        if (isOver) return;
        if (text !== last) changed(task);
        last = text;
        if (OVER.has(task['status'])) end();
      }
      looking = false;
    };
    // Ends the watch if Redis is unreachable or the task is deleted: the client then polls with tasks/get.
    const lookAgain = () => void look().catch(end);
    const subscription = this.hub.subscribe({
      tenantId: caller.principal.tenantId,
      filter: { callId: taskId },
      cursor: this.hub.currentPosition().cursorOf(taskId),
      deliver: (delivery) => {
        if (delivery.kind === 'failed') end();
        else if (mayChangeTask(delivery)) lookAgain();
      },
    });
    lookAgain();
    return close;
  }
}

function mayChangeTask(delivery: Delivery): boolean {
  if (delivery.kind !== 'events') return delivery.kind === 'resync';
  return delivery.batch.events.some(({ json }) => {
    const { type } = upcastEvent(json);
    return type !== 'call.update' && type !== 'call.progress';
  });
}
