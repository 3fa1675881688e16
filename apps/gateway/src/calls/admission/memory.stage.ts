import { Injectable } from '@nestjs/common';
import { MemoryGuard } from '../../platform/memory-guard.service.js';
import type { AdmissionStage, Submission } from './submission.js';

/** Rejects calls that Redis has no room for, before counters, stored data and hooks. */
@Injectable()
export class MemoryStage implements AdmissionStage {
  readonly name = 'memory';

  constructor(private readonly guard: MemoryGuard) {}

  /** @throws ProblemError `overloaded` or `too_many_requests` */
  run({ body }: Submission): void {
    this.guard.check(body.priority);
  }
}
