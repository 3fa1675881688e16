import { Injectable } from '@nestjs/common';
import { TaskListArguments, TodoWriteArguments } from '#tools';
import { RedactionConfigService } from '../governance/redaction-config.service.js';
import { SessionDataStore } from '../sessions/session-data-store.service.js';
import { areDone, needsVerification, shownTaskList, withCommand } from './task-list.js';
import { jsonOutput, sessionOf, type ToolCall, type ToolHandler } from './tool-call.js';

/** Todo list and task list of a session. Stored without secrets: people read them. */
@Injectable()
export class PlanningTools {
  readonly handlers: Readonly<Record<string, ToolHandler>> = {
    todo_write: (call) => this.writeTodos(call),
    task_list: (call) => this.changeTasks(call),
  };

  constructor(
    private readonly data: SessionDataStore,
    private readonly redaction: RedactionConfigService,
  ) {}

  private async writeTodos(call: ToolCall) {
    const { todos } = TodoWriteArguments.parse(this.withoutSecrets(call));
    const { before } = await this.data.change(sessionOf(call), () => ({ todos: areDone(todos) ? [] : todos }));
    return jsonOutput({
      oldTodos: before.todos ?? [],
      newTodos: todos,
      ...(needsVerification(todos) ? { verificationNudgeNeeded: true } : {}),
    });
  }

  private async changeTasks(call: ToolCall) {
    const args = TaskListArguments.parse(this.withoutSecrets(call));
    const session = sessionOf(call);
    if (args.command === 'list') {
      const { taskList } = await this.data.read(call.principal.tenantId, session.sessionId);
      return jsonOutput(shownTaskList(withCommand(taskList, args)));
    }
    const { now } = await this.data.change(session, ({ taskList }) => ({ taskList: withCommand(taskList, args) }));
    return jsonOutput(shownTaskList(withCommand(now.taskList, { command: 'list' })));
  }

  private withoutSecrets({ args, principal }: ToolCall): unknown {
    return this.redaction.of(principal.tenantId).redactor.json(args).value;
  }
}
