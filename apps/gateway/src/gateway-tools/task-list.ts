import { ProblemError, type JsonValue, type TaskList, type Todo } from '#contracts';
import type { TaskListArguments } from '#tools';

const MOST_TASKS = 100;
const MOST_NOTES = 50;
const MOST_FILES = 200;

/** List after a command. Pure. @throws ProblemError `invalid_request` for unknown ids, or too many tasks */
export function withCommand(list: TaskList | undefined, { command, ...args }: TaskListArguments): TaskList {
  const now: TaskList = list ?? { description: '', tasks: [], context: [], modifiedFiles: [] };
  switch (command) {
    case 'create':
      return { description: args.task_list_description ?? '', tasks: added([], args.tasks), context: [], modifiedFiles: [] };
    case 'complete': {
      const ids = known(now, args.completed_task_ids);
      return {
        ...now,
        tasks: now.tasks.map((task) => (ids.has(task.id) ? { ...task, completed: true } : task)),
        context: [...now.context, ...(args.context_update === undefined ? [] : [args.context_update])].slice(-MOST_NOTES),
        modifiedFiles: [...new Set([...now.modifiedFiles, ...(args.modified_files ?? [])])].slice(-MOST_FILES),
      };
    }
    case 'add':
      return { ...now, tasks: added(now.tasks, args.new_tasks), description: args.new_description ?? now.description };
    case 'remove': {
      const ids = known(now, args.remove_task_ids);
      return { ...now, tasks: now.tasks.filter(({ id }) => !ids.has(id)), description: args.new_description ?? now.description };
    }
    case 'list':
      return now;
    default:
      return command satisfies never;
  }
}

/** Task list in the form for models. */
export function shownTaskList({ description, tasks, context, modifiedFiles }: TaskList): JsonValue {
  return {
    tasks: tasks.map(({ id, description: text, details, completed }) => ({
      id,
      task_description: text,
      ...(details === undefined ? {} : { details }),
      completed,
    })),
    description,
    context,
    modified_files: modifiedFiles,
  };
}

/** True if the agent must be reminded to verify: at least three steps are done, and none mentions verification. */
export function needsVerification(todos: readonly Todo[]): boolean {
  return areDone(todos) && todos.length >= 3 && !todos.some(({ content }) => /verif/i.test(content));
}

export function areDone(todos: readonly Todo[]): boolean {
  return todos.every(({ status }) => status === 'completed');
}

function added(tasks: TaskList['tasks'], given: TaskListArguments['tasks'] = []): TaskList['tasks'] {
  if (tasks.length + given.length > MOST_TASKS) throw wrong(`A task list has at most ${MOST_TASKS} tasks: remove some first`);
  const last = Math.max(0, ...tasks.map(({ id }) => Number(id)));
  return [
    ...tasks,
    ...given.map(({ task_description, details }, index) => ({
      id: String(last + index + 1),
      description: task_description,
      ...(details === undefined ? {} : { details }),
      completed: false,
    })),
  ];
}

function known({ tasks }: TaskList, ids: readonly string[] = []): ReadonlySet<string> {
  const unknown = ids.filter((id) => !tasks.some((task) => task.id === id));
  if (unknown.length === 0) return new Set(ids);
  const there = tasks.map(({ id }) => id).join(', ') || 'none';
  throw wrong(`The task list has no task ${unknown.map((id) => JSON.stringify(id)).join(', ')}; its tasks are: ${there}`);
}

function wrong(message: string): ProblemError {
  return new ProblemError('invalid_request', message);
}
