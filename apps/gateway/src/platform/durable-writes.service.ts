import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { EventLogUnreplicated } from '#event-log';
import { ReplicaNumber, waitForReplicas, type LuaScript, type RedisConnection } from '#redis';
import { everyMs, type Ticker } from '#timing';
import { GATEWAY_CONFIG, type GatewayConfig } from './gateway.config.js';
import { DURABLE_REDIS } from './tokens.js';

/** Longest time that one WAIT blocks the connection before the next write. */
const TRY_MS = 1_000;
const CHECK_MS = 10_000;

/** Script whose effect is acknowledged to a caller. */
export interface DurableScript {
  readonly script: LuaScript;
  /**
   * True if a second run, also after changes of others and on a master that lacks the first one, leaves the result of the first
   * run or has no effect. Only such a script is repeated, and only on a new master.
   */
  readonly repeatable: boolean;
}

/**
 * Runs scripts outside the log whose writes are acknowledged to a caller. With DURABILITY=replicated they use a connection of
 * their own, since a WAIT blocks all other commands of its connection.
 */
@Injectable()
export class DurableWrites implements OnApplicationBootstrap, OnApplicationShutdown {
  /** Warning for operators if REPLICAS is smaller than the number of replicas that Sentinel knows. */
  warning: string | undefined;
  private readonly replicas: ReplicaNumber;
  private ticker: Ticker | undefined;

  constructor(
    @Inject(DURABLE_REDIS) private readonly redis: RedisConnection,
    @Inject(GATEWAY_CONFIG) private readonly config: Pick<GatewayConfig, 'durability' | 'replicas' | 'logDeadlineMs'>,
  ) {
    this.replicas = new ReplicaNumber(redis, config.replicas);
  }

  onApplicationBootstrap(): void {
    if (this.config.durability === 'local') return;
    this.ticker = everyMs(CHECK_MS, () => this.checkReplicas());
  }

  onApplicationShutdown(): void {
    this.ticker?.unsubscribe();
  }

  /** Sets `warning`; keeps the last one while no Sentinel answers. */
  async checkReplicas(): Promise<void> {
    if (this.config.durability === 'replicated') this.warning = await this.replicas.warning().catch(() => this.warning);
  }

  /**
   * Returns the first answer of the script. With DURABILITY=replicated it resolves when enough replicas have the data that
   * the script wrote or found. Rejects with `EventLogUnreplicated` after LOG_DEADLINE_MS, or if a script that must not be
   * repeated ran on a replaced master; and at once while Redis is unreachable, when the result of the write is unknown.
   */
  async run({ script, repeatable }: DurableScript, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    if (this.config.durability === 'local') return script.run(this.redis, keys, args);
    const deadline = this.deadline();
    const runWithin = async (ms: number) => script.runAndWait(this.redis, keys, args, { replicas: await this.replicas.current(), ms });
    const first = await deadline(runWithin);
    let state = first;
    while (state.confirmed < (await this.replicas.current())) {
      const now = await deadline((ms) => this.wait(keys[0], ms));
      const isSameMaster = now.history !== '' && now.history === state.history;
      if (isSameMaster) state = { ...state, ...now };
      else if (repeatable) state = await deadline(runWithin);
      else throw new EventLogUnreplicated('Another Redis became the master before enough replicas had the write.');
    }
    return first.answer;
  }

  /**
   * Resolves once the replicas have all earlier writes to the key's master. Later reads from that master then return data that
   * survives its loss.
   */
  async confirm(key: string): Promise<void> {
    if (this.config.durability === 'local') return;
    const deadline = this.deadline();
    while ((await deadline((ms) => this.wait(key, ms))).confirmed < (await this.replicas.current()));
  }

  private async wait(key = '', ms: number) {
    return waitForReplicas(this.redis, key, { replicas: await this.replicas.current(), ms });
  }

  /** Gives each try its time, and rejects after the whole time: other writes may be queued before it. */
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
