import { Injectable } from '@nestjs/common';
import type { Result } from '@modelcontextprotocol/server';
import { CancelBody, ProblemError, type Call, type Principal } from '#contracts';
import { ToolRegistry } from '#tool-sdk';
import { CancelCallService } from '../../calls/cancel-call.service.js';
import { invalidParams } from '../wire/json-rpc-error.js';
import type { ClientFeatures } from '../wire/client-features.js';
import { CallQuestions } from './call-questions.service.js';
import { needsStructure } from './call-result.js';
import { OwnedCalls } from './owned-calls.service.js';
import { assertTasks, taskOf } from './task.js';

const CANCELLED = CancelBody.parse({ reason: 'Cancelled by the MCP client' });

/** Caller of a task method. */
export interface TaskCaller {
  readonly principal: Principal;
  readonly features: ClientFeatures;
}

/** `tasks/get`, `tasks/update` and `tasks/cancel` of the tasks extension. A task is a call of the same key. */
@Injectable()
export class CallTasks {
  constructor(
    private readonly owned: OwnedCalls,
    private readonly questions: CallQuestions,
    private readonly cancelCall: CancelCallService,
    private readonly tools: ToolRegistry,
  ) {}

  async get(caller: TaskCaller, taskId: string): Promise<Result> {
    const call = await this.find(caller, taskId);
    const question = await this.questions.find(caller.principal, caller.features, call);
    return taskOf(call, question, needsStructure(this.tools, call));
  }

  /** Ignores answers to requests that are not open. */
  async update(caller: TaskCaller, taskId: string, responses: Readonly<Record<string, unknown>>): Promise<Result> {
    const call = await this.find(caller, taskId);
    const name = this.questions.nameOf(call);
    if (name === undefined) return {};
    try {
      await this.questions.answer(caller.principal, call.id, { [name]: responses[name] });
    } catch (error) {
      if (error instanceof ProblemError && error.code === 'forbidden') throw invalidParams(error.detail);
      throw error;
    }
    return {};
  }

  async cancel(caller: TaskCaller, taskId: string): Promise<Result> {
    const { id } = await this.find(caller, taskId);
    await this.cancelCall.cancel(caller.principal, id, CANCELLED);
    return {};
  }

  private async find({ principal, features }: TaskCaller, taskId: string): Promise<Call> {
    assertTasks(features);
    const call = await this.owned.find(principal, taskId);
    if (call === undefined) throw invalidParams('Task not found');
    return call;
  }
}
