import { Inject, Injectable } from '@nestjs/common';
import { EventLogUnreplicated } from '#event-log';
import { waitForReplicas, type LuaScript, type RedisConnection } from '#redis';
import { GATEWAY_CONFIG, type GatewayConfig } from './gateway.config.js';
import { DURABLE_REDIS } from './tokens.js';

/** How long one WAIT blocks the connection before the next write gets its turn. */
const TRY_MS = 1_000;

/** A script whose effect is acknowledged to a caller. */
export interface DurableScript {
  readonly script: LuaScript;
  /**
   * A second run, also after changes of others and on a master that lacks the first one, leaves what the first run left
   * or has no effect. Only such a script runs again, and only when another master carries on.
   */
  readonly repeatable: boolean;
}

/**
 * Runs scripts that write outside the log and are acknowledged to a caller. With DURABILITY=replicated that is on a
 * connection of its own, since a WAIT blocks every other command of its connection.
 */
@Injectable()
export class DurableWrites {
  constructor(
    @Inject(DURABLE_REDIS) private readonly redis: RedisConnection,
    @Inject(GATEWAY_CONFIG) private readonly config: Pick<GatewayConfig, 'durability' | 'replicas' | 'logDeadlineMs'>,
  ) {}

  /**
   * Returns the first answer of the script. With DURABILITY=replicated it resolves when REPLICAS replicas have what it
   * wrote, or found. Rejects with `EventLogUnreplicated` past LOG_DEADLINE_MS, or when a script that must not be repeated
   * ran on a master that was replaced; and at once while Redis is out of reach: whether it was written is not known then.
   */
  async run({ script, repeatable }: DurableScript, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    if (this.config.durability === 'local') return script.run(this.redis, keys, args);
    const runWithin = (ms: number) => script.runAndWait(this.redis, keys, args, { replicas: this.config.replicas, ms });
    const deadline = this.deadline();
    const first = await deadline(runWithin);
    let state = first;
    while (state.confirmed < this.config.replicas) {
      const now = await deadline((ms) => this.wait(keys[0], ms));
      const isSameMaster = now.history !== '' && now.history === state.history;
      if (isSameMaster) state = { ...state, ...now };
      else if (repeatable) state = await deadline(runWithin);
      else throw new EventLogUnreplicated('Another Redis became the master before enough replicas had the write.');
    }
    return first.answer;
  }

  /**
   * Resolves when the replicas have everything that was written before on the master of the key. What is read after that
   * from the same master survives its loss.
   */
  async confirm(key: string): Promise<void> {
    if (this.config.durability === 'local') return;
    const deadline = this.deadline();
    while ((await deadline((ms) => this.wait(key, ms))).confirmed < this.config.replicas);
  }

  private wait(key = '', ms: number) {
    return waitForReplicas(this.redis, key, { replicas: this.config.replicas, ms });
  }

  /** Gives each try the time that it may block, and rejects when all of the time is over: other writes may be before it. */
  private deadline(): <T>(attempt: (ms: number) => Promise<T>) => Promise<T> {
    const { logDeadlineMs } = this.config;
    const end = performance.now() + logDeadlineMs;
    return async (attempt) => {
      const left = Math.ceil(end - performance.now());
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<never>((_resolve, reject) => {
        const error = () => reject(new EventLogUnreplicated(`Too few replicas confirmed the write within ${logDeadlineMs} ms.`));
        timer = setTimeout(error, Math.max(0, left));
      });
      try {
        return await Promise.race([left > 0 ? attempt(Math.min(TRY_MS, left)) : late, late]);
      } finally {
        clearTimeout(timer);
      }
    };
  }
}
