import { Injectable } from '@nestjs/common';

/** Size of a JSON value from which its work is done in turns. Characters of texts, and a few more for each value. */
export const LARGE_SIZE = 65_536;
const VALUE_SIZE = 4;

/**
 * Turns of the event loop for work that takes milliseconds, such as a step of a large submission. One piece of such work runs in a
 * turn, tenant after tenant. Other requests run between two of them and never wait for more than one, however many are waiting.
 */
@Injectable()
export class FairTurns {
  /** Work by tenant, the tenant of the next turn first. */
  private readonly waiting = new Map<string, (() => void)[]>();

  /** Resolves in a turn of its own. In order for each tenant. */
  next(tenantId: string): Promise<void> {
    return new Promise((resolve) => {
      const queue = this.waiting.get(tenantId);
      if (queue !== undefined) return void queue.push(resolve);
      this.waiting.set(tenantId, [resolve]);
      if (this.waiting.size === 1) setImmediate(() => this.release());
    });
  }

  private release(): void {
    for (const [tenantId, queue] of this.waiting) {
      queue.shift()?.();
      this.waiting.delete(tenantId);
      if (queue.length > 0) this.waiting.set(tenantId, queue);
      break;
    }
    if (this.waiting.size > 0) setImmediate(() => this.release());
  }
}

/** `most` less the size of a JSON value: negative for a larger one, of which the rest is not looked at. */
export function sizeLeft(value: unknown, most: number): number {
  if (typeof value === 'string') return most - value.length - VALUE_SIZE;
  let left = most - VALUE_SIZE;
  if (typeof value !== 'object' || value === null) return left;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length && left >= 0; at++) left = sizeLeft(value[at], left);
    return left;
  }
  const keys = Object.keys(value);
  // An object of many members is costly to read.
  if (keys.length * VALUE_SIZE > left) return -1;
  for (let at = 0; at < keys.length && left >= 0; at++) {
    const key = keys[at] ?? '';
    left = sizeLeft(Reflect.get(value, key), left - key.length);
  }
  return left;
}
