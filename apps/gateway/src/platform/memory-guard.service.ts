import { Injectable } from '@nestjs/common';
import { ProblemError, type Priority } from '#contracts';
import { telemetry } from '#observability';
import { RedisMemory } from '#redis';

/** Retry delay in milliseconds, long enough for the archiver to trim. */
const RETRY_MS = 5_000;

/**
 * Reserves room in Redis for accepted calls: from 80 % of `maxmemory` on, submissions of low priority are rejected, from 90 %
 * on all, and all administrative acts except revocations. Events of accepted calls, decisions and cancels are never checked
 * here.
 */
@Injectable()
export class MemoryGuard {
  constructor(private readonly memory: RedisMemory) {}

  /** @throws ProblemError `too_many_requests` for low priority, `overloaded` for all */
  check(priority: Priority): void {
    const { level } = this.memory;
    if (level === 'critical') throw this.refusal('all', 'overloaded', 'no new calls are accepted; those accepted go on');
    if (level === 'high' && priority === 'low')
      throw this.refusal('low', 'too_many_requests', 'no new calls of low priority are accepted; others are');
  }

  /** @throws ProblemError `overloaded` while new calls are rejected */
  checkAct(): void {
    if (this.memory.level !== 'critical') return;
    throw this.refusal('acts', 'overloaded', 'nothing is changed now but by what takes rights away from what has them');
  }

  /** Warning for operators; undefined below 80 %. */
  get warning(): string | undefined {
    const { level } = this.memory;
    if (level !== 'high' && level !== 'critical') return undefined;
    return `${this.fact()}: ${level === 'critical' ? 'all new calls are refused' : 'new calls of low priority are refused'}`;
  }

  private refusal(refused: 'low' | 'all' | 'acts', code: 'overloaded' | 'too_many_requests', text: string): ProblemError {
    telemetry.memoryRefused.emit({ refused });
    return new ProblemError(code, `${this.fact()}: ${text}. Send the same request again later`, { retryAfterMs: RETRY_MS });
  }

  private fact(): string {
    return `Redis uses ${Math.floor(this.memory.share * 100)} % of its memory`;
  }
}
