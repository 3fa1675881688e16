import { Injectable } from '@nestjs/common';
import { EventHub } from '#event-log';
import { ApiKeyStore } from '../../auth/api-key-store.service.js';
import { ShutdownState } from '../../platform/shutdown-state.service.js';
import type { AdmissionStage, Submission } from './submission.js';

/**
 * Watches for the End if the caller waits, or lets the caller watch. Starts before the call exists, so that no End is missed. A
 * revoked key ends the wait.
 */
@Injectable()
export class WatchStage implements AdmissionStage {
  readonly name = 'watch';

  constructor(
    private readonly hub: EventHub,
    private readonly apiKeys: ApiKeyStore,
    private readonly shutdown: ShutdownState,
  ) {}

  run(submission: Submission): void {
    const { callId, principal, options } = submission;
    options.newId?.(callId);
    if (options.waitMs === undefined) return;
    const watch = this.hub.watch(callId, { timeoutMs: options.waitMs, signal: this.shutdown.signal });
    const unwatchKey = this.apiKeys.watch(principal, 'submit', () => watch.cancel());
    submission.ended = watch.ended;
    submission.unwatch = () => {
      unwatchKey();
      watch.cancel();
    };
  }
}
