import { ToolError } from '#tool-sdk';
import { everyMs, type Ticker } from '#timing';
import type { EndedSession } from '../../session-ends.js';
import { ownerName } from '../../session-owner.js';
import { Interpreter, NOT_RUN, type CodeRun } from './interpreter.js';
import { Interpreters, type InterpreterAnswer, type InterpreterKey, type InterpreterPlace } from './interpreters.port.js';

export interface InterpreterLimits {
  readonly most: number;
  readonly mostOfTenant: number;
  readonly idleMs: number;
}

const LIMITS: InterpreterLimits = { most: 32, mostOfTenant: 8, idleMs: 1_800_000 };
const LOOK_MS = 30_000;

interface Kept {
  readonly name: string;
  readonly key: InterpreterKey;
  readonly view: string;
  readonly interpreter: Promise<Interpreter>;
}

/**
 * Interpreters of this process. Paused between pieces of code, with all processes that they started. Ended after idle time; to
 * make room, the longest unused one of the tenant with the most is ended.
 */
export class LocalInterpreters extends Interpreters {
  private readonly kept = new Map<string, Kept>();
  private readonly lost = new Map<string, string>();
  private ticker: Ticker | undefined;

  constructor(private readonly limits = LIMITS) {
    super();
  }

  /** Keys of the present interpreters. */
  keys(): readonly InterpreterKey[] {
    return [...this.kept.values()].map(({ key }) => key);
  }

  /** Ends the interpreter of the key, whose state is no longer valid. */
  async discard(key: InterpreterKey): Promise<void> {
    const name = nameOf(key);
    await this.drop(this.kept.get(name), 'other code of the session ran elsewhere');
    this.lost.delete(name);
  }

  async run(place: InterpreterPlace, run: CodeRun, lostBecause?: string): Promise<InterpreterAnswer> {
    const name = nameOf(place.key);
    const before = this.kept.get(name);
    if (before !== undefined && before.view !== place.view) await this.drop(before, 'what the session may see of the files has changed');
    const isNew = !this.kept.has(name);
    const why = isNew ? (this.lost.get(name) ?? lostBecause) : undefined;
    this.lost.delete(name);
    const kept = this.kept.get(name) ?? this.open(name, place);
    const interpreter = await kept.interpreter;
    const report = await interpreter.run(run);
    const paused = interpreter.pause();
    if (report !== NOT_RUN) await paused;
    if (report.how === 'ended') this.forget(kept);
    return why === undefined ? report : { ...report, lostBecause: why };
  }

  async endOf({ tenantId, sessionId }: EndedSession): Promise<void> {
    const own = [...this.kept.values()].filter(({ key }) => key.tenantId === tenantId && key.sessionId === sessionId);
    await Promise.all(own.map((kept) => this.drop(kept, 'its session was deleted')));
    for (const { name } of own) this.lost.delete(name);
  }

  async close(): Promise<void> {
    this.ticker?.unsubscribe();
    await Promise.all([...this.kept.values()].map((kept) => this.drop(kept, 'its worker was stopped')));
  }

  private open(name: string, { key, view, command }: InterpreterPlace): Kept {
    const interpreter = this.makeRoom(key.tenantId).then(() => Interpreter.start(command));
    const kept = { name, key, view, interpreter };
    this.kept.set(name, kept);
    this.ticker ??= everyMs(LOOK_MS, () => this.dropIdle());
    // Reports an end between two pieces of code; other ends are reported with the code.
    const onEnd = (how: string, { busy }: Interpreter) => busy === 0 && this.report(kept, `its interpreter is gone: ${how}`);
    interpreter.then(
      (started) => void started.ended.then((how) => onEnd(how, started)),
      () => this.forget(kept),
    );
    return kept;
  }

  private async dropIdle(): Promise<void> {
    const unused = performance.now() - this.limits.idleMs;
    for (const { kept, interpreter } of await this.started())
      if (interpreter.busy === 0 && interpreter.lastUsed < unused)
        await this.drop(kept, `it was not used for ${Math.round(this.limits.idleMs / 60_000)} minutes`);
  }

  /** @throws ToolError when all interpreters that could make room are busy */
  private async makeRoom(tenantId: string): Promise<void> {
    const all = await this.started();
    const own = all.filter(({ kept }) => kept.key.tenantId === tenantId);
    const isFull = all.length >= this.limits.most;
    if (!isFull && own.length < this.limits.mostOfTenant) return;
    const [oldest] = (own.length >= this.limits.mostOfTenant ? own : ofLargestTenant(all))
      .filter(({ interpreter }) => interpreter.busy === 0)
      .toSorted((a, b) => a.interpreter.lastUsed - b.interpreter.lastUsed);
    if (oldest === undefined)
      throw new ToolError('unavailable', 'All interpreters of this worker are busy. Try again later.', { retryable: true });
    await this.drop(oldest.kept, 'its room was needed for another session');
  }

  /** Present interpreters, once started. */
  private async started(): Promise<readonly Started[]> {
    const all = [...this.kept.values()].map((kept) => kept.interpreter.then((interpreter) => ({ kept, interpreter })));
    return (await Promise.allSettled(all)).flatMap((it) => (it.status === 'fulfilled' ? [it.value] : []));
  }

  private async drop(kept: Kept | undefined, why: string): Promise<void> {
    if (kept === undefined || !this.report(kept, why)) return;
    await (await kept.interpreter.catch(() => undefined))?.stop();
  }

  private report(kept: Kept, why: string): boolean {
    if (!this.forget(kept)) return false;
    this.lost.set(kept.name, why);
    return true;
  }

  /** False when another one has its name. */
  private forget({ name, interpreter }: Kept): boolean {
    return this.kept.get(name)?.interpreter === interpreter && this.kept.delete(name);
  }
}

interface Started {
  readonly kept: Kept;
  readonly interpreter: Interpreter;
}

function nameOf(key: InterpreterKey): string {
  return `${key.language} ${ownerName(key)}`;
}

function ofLargestTenant(all: readonly Started[]): readonly Started[] {
  const tenants = [...new Set(all.map(({ kept }) => kept.key.tenantId))];
  const groups = tenants.map((tenantId) => all.filter(({ kept }) => kept.key.tenantId === tenantId));
  return groups.toSorted((a, b) => b.length - a.length)[0] ?? [];
}
