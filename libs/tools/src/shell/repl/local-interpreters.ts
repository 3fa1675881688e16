import { ToolError } from '#tool-sdk';
import type { EndedSession } from '../../session-ends.js';
import { ownerName } from '../../session-owner.js';
import { Interpreter, type CodeRun } from './interpreter.js';
import { Interpreters, type InterpreterAnswer, type InterpreterKey, type InterpreterPlace } from './interpreters.port.js';

export interface InterpreterLimits {
  readonly most: number;
  readonly mostOfTenant: number;
  readonly idleMs: number;
}

const LIMITS: InterpreterLimits = { most: 32, mostOfTenant: 8, idleMs: 1_800_000 };
const LOOK_MS = 30_000;

interface Kept {
  readonly key: InterpreterKey;
  readonly view: string;
  readonly interpreter: Interpreter;
}

/**
 * The interpreters of this process. One that was not used for a while is ended, and so is the longest unused one of the
 * tenant with the most when another one needs its room.
 */
export class LocalInterpreters extends Interpreters {
  private readonly kept = new Map<string, Promise<Kept>>();
  private readonly lost = new Map<string, string>();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly limits = LIMITS) {
    super();
  }

  /** Ends the interpreter of the key, whose state does not count any more. */
  async discard(key: InterpreterKey): Promise<void> {
    const name = nameOf(key);
    await this.drop(name, 'other code of the session ran elsewhere');
    this.lost.delete(name);
  }

  async run(place: InterpreterPlace, run: CodeRun, lostBecause?: string): Promise<InterpreterAnswer> {
    const name = nameOf(place.key);
    await this.dropChanged(name, place.view);
    const isNew = !this.kept.has(name);
    const why = isNew ? (this.lost.get(name) ?? lostBecause) : undefined;
    this.lost.delete(name);
    const { interpreter } = await this.open(name, place);
    const report = await interpreter.run(run);
    if (report.how === 'ended') this.forget(name);
    return why === undefined ? report : { ...report, lostBecause: why };
  }

  async endOf({ tenantId, sessionId }: EndedSession): Promise<void> {
    const kept = (await Promise.allSettled(this.kept.values())).flatMap((it) => (it.status === 'fulfilled' ? [it.value] : []));
    const own = kept.filter(({ key }) => key.tenantId === tenantId && key.sessionId === sessionId).map(({ key }) => nameOf(key));
    await Promise.all(own.map((name) => this.drop(name, 'its session was deleted')));
    for (const name of own) this.lost.delete(name);
  }

  async close(): Promise<void> {
    clearInterval(this.timer);
    await Promise.all([...this.kept.keys()].map((name) => this.drop(name, 'its worker was stopped')));
  }

  private async open(name: string, place: InterpreterPlace): Promise<Kept> {
    const before = this.kept.get(name);
    if (before !== undefined) return before;
    const opening = this.makeRoom(place.key.tenantId).then(() => this.start(name, place));
    this.kept.set(name, opening);
    opening.catch(() => this.kept.delete(name));
    this.timer ??= setInterval(() => void this.dropIdle(), LOOK_MS).unref();
    return opening;
  }

  private async start(name: string, { key, view, command }: InterpreterPlace): Promise<Kept> {
    const interpreter = await Interpreter.start(command);
    // One that ends between two pieces of code; the others are reported with the code.
    void interpreter.ended.then((how) => interpreter.busy === 0 && this.report(name, `its interpreter is gone: ${how}`));
    return { key, view, interpreter };
  }

  private async dropChanged(name: string, view: string): Promise<void> {
    const kept = await this.kept.get(name)?.catch(() => undefined);
    if (kept !== undefined && kept.view !== view) await this.drop(name, 'what the session may see of the files has changed');
  }

  private async dropIdle(): Promise<void> {
    const unused = performance.now() - this.limits.idleMs;
    for (const [name, opening] of this.kept) {
      const kept = await opening.catch(() => undefined);
      if (kept !== undefined && kept.interpreter.busy === 0 && kept.interpreter.lastUsed < unused)
        await this.drop(name, `it was not used for ${Math.round(this.limits.idleMs / 60_000)} minutes`);
    }
  }

  /** @throws ToolError when all interpreters that could make room are busy */
  private async makeRoom(tenantId: string): Promise<void> {
    const all = (await Promise.allSettled(this.kept.values())).flatMap((it) => (it.status === 'fulfilled' ? [it.value] : []));
    const own = all.filter(({ key }) => key.tenantId === tenantId);
    const isFull = all.length >= this.limits.most;
    if (!isFull && own.length < this.limits.mostOfTenant) return;
    const [oldest] = (own.length >= this.limits.mostOfTenant ? own : ofLargestTenant(all))
      .filter(({ interpreter }) => interpreter.busy === 0)
      .toSorted((a, b) => a.interpreter.lastUsed - b.interpreter.lastUsed);
    if (oldest === undefined)
      throw new ToolError('unavailable', 'All interpreters of this worker are busy. Try again later.', { retryable: true });
    await this.drop(nameOf(oldest.key), 'its room was needed for another session');
  }

  private async drop(name: string, why: string): Promise<void> {
    const kept = await this.kept.get(name)?.catch(() => undefined);
    if (kept === undefined) return;
    this.report(name, why);
    await kept.interpreter.stop();
  }

  private report(name: string, why: string): void {
    if (!this.forget(name)) return;
    this.lost.set(name, why);
  }

  private forget(name: string): boolean {
    return this.kept.delete(name);
  }
}

function nameOf(key: InterpreterKey): string {
  return `${key.language} ${ownerName(key)}`;
}

function ofLargestTenant(all: readonly Kept[]): readonly Kept[] {
  const tenants = [...new Set(all.map(({ key }) => key.tenantId))];
  const groups = tenants.map((tenantId) => all.filter(({ key }) => key.tenantId === tenantId));
  return groups.toSorted((a, b) => b.length - a.length)[0] ?? [];
}
