import { Injectable } from '@nestjs/common';
import { ProblemError } from '#contracts';
import { agentRejection } from '../../auth/agent-of.js';
import { userRejection } from '../../auth/user-of.js';
import { ApiKeyStore } from '../../auth/api-key-store.service.js';
import { isToolAllowed } from '../../auth/tool-patterns.js';
import { BeforeHooks, hooksApply } from './before-hooks.service.js';
import type { CallHooks } from './evaluated-call.js';
import { applyCallTree } from './call-tree.js';
import type { AdmissionStage, Submission } from './submission.js';

/**
 * Runs the hooks before the call, if any match: they may reject it, or rewrite the arguments, which are then evaluated
 * again. Hooks may take long, so the key, its agents, users and tools are checked again after them.
 */
@Injectable()
export class HooksStage implements AdmissionStage {
  readonly name = 'hooks';

  constructor(
    private readonly hooks: BeforeHooks,
    private readonly apiKeys: ApiKeyStore,
  ) {}

  run(submission: Submission): void | Promise<void> {
    const { evaluated } = submission;
    if (evaluated.hooks === undefined) return;
    if (hooksApply(evaluated, evaluated.hooks)) return this.runHooks(submission, evaluated.hooks);
    this.assertKey(submission);
  }

  private async runHooks(submission: Submission, hooks: CallHooks): Promise<void> {
    const { principal, body, callId, evaluated, options } = submission;
    const signal = options.clientDisconnectSignal?.() ?? new AbortController().signal;
    const result = await this.hooks.run(
      { principal, body, callId, evaluated, signal, inPlace: (it) => applyCallTree(submission, it) },
      hooks,
    );
    submission.evaluated = result.evaluated;
    submission.transient = result.transient ?? false;
    if (result.evaluated.hooks !== undefined) this.assertKey(submission);
  }

  private assertKey({ principal, body, evaluated: { tool, userId } }: Submission): void {
    const now = this.apiKeys.current(principal) ?? principal;
    const rejection = this.apiKeys.rejection(principal, 'submit') ?? agentRejection(now, body.agentId) ?? userRejection(now, userId);
    if (rejection !== undefined) throw rejection;
    if (tool !== undefined && !isToolAllowed(now, tool))
      throw new ProblemError('forbidden', `The key ${now.keyId} may not use ${tool.name} any more`);
  }
}
