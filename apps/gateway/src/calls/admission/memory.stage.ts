import { Injectable } from '@nestjs/common';
import { MemoryGuard } from '../../platform/memory-guard.service.js';
import type { AdmissionStage, Submission } from './submission.js';

/** Refuses what Redis has no room for, before anything is counted, stored or asked of hooks. */
@Injectable()
export class MemoryStage implements AdmissionStage {
  readonly name = 'memory';

  constructor(private readonly guard: MemoryGuard) {}

  /** @throws ProblemError `overloaded` or `too_many_requests` */
  run({ body }: Submission): void {
    this.guard.check(body.priority);
  }
}
