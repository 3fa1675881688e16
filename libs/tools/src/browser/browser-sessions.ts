import type { EgressPolicy } from '#sandbox';
import { ToolError } from '#tool-sdk';
import { everyMs, type Ticker } from '#timing';
import type { EndedSession } from '../session-ends.js';
import { ownerName, type SessionOwner } from '../session-owner.js';
import type { BrowserSettings } from './browser.config.js';
import type { BrowserEngine } from './browser-engine.js';
import { BrowserSession } from './browser-session.js';

/** A session that was used so recently is not closed for another one. */
const KEPT_MS = 60_000;

interface Entry {
  readonly tenantId: string;
  readonly sessionId: string;
  readonly session: Promise<BrowserSession>;
}

/** The open pages of this worker. A tenant has at most half of them. */
export class BrowserSessions {
  private readonly entries = new Map<string, Entry>();
  private readonly ticker: Ticker;

  constructor(
    private readonly engine: BrowserEngine,
    private readonly policy: EgressPolicy,
    private readonly settings: Omit<BrowserSettings, 'mode' | 'executable'>,
  ) {
    this.ticker = everyMs(Math.min(10_000, settings.idleMs), () => this.closeIdle());
  }

  /** Undefined when the owner has no page here. */
  async find(owner: SessionOwner): Promise<BrowserSession | undefined> {
    const found = await this.entries.get(ownerName(owner))?.session.catch(() => undefined);
    return found?.closed === false ? found : undefined;
  }

  /** @throws ToolError `unavailable` when there are too many, or no browser */
  async open(owner: SessionOwner): Promise<BrowserSession> {
    const found = await this.find(owner);
    if (found !== undefined && (found.busy || (await found.answers()))) return found;
    const { tenantId, sessionId } = owner;
    const key = ownerName(owner);
    await this.makeRoom(tenantId);
    const before = this.entries.get(key);
    if (before !== undefined && !(await isClosed(before))) return before.session;
    const session = BrowserSession.open(this.engine, this.policy, this.settings.actionMs);
    this.entries.set(key, { tenantId, sessionId, session });
    session.catch(() => this.entries.delete(key));
    return session;
  }

  /** Closes the owner's page; true if there was one. */
  async closeOf(owner: SessionOwner): Promise<boolean> {
    const found = await this.find(owner);
    await this.drop(ownerName(owner));
    return found !== undefined;
  }

  /** The session was deleted: closes its pages, also in the middle of an action. */
  async endOf({ tenantId, sessionId }: EndedSession): Promise<void> {
    const own = [...this.entries].filter(([, entry]) => entry.tenantId === tenantId && entry.sessionId === sessionId);
    await Promise.all(own.map(([key]) => this.drop(key)));
  }

  /** Closes all pages, and Chromium. Idempotent. */
  async close(): Promise<void> {
    this.ticker.unsubscribe();
    await Promise.all([...this.entries.keys()].map((key) => this.drop(key)));
    await this.engine.close();
  }

  private async makeRoom(tenantId: string): Promise<void> {
    await this.closeWhere(({ closed }) => closed);
    const { mostSessions } = this.settings;
    const own = [...this.entries].filter(([, entry]) => entry.tenantId === tenantId);
    if (own.length >= Math.ceil(mostSessions / 2)) await this.closeOldest(own, 'your sessions have');
    if (this.entries.size >= mostSessions) await this.closeOldest([...this.entries], 'all sessions have');
  }

  private async closeOldest(candidates: readonly (readonly [string, Entry])[], whose: string): Promise<void> {
    const known = await Promise.all(candidates.map(async ([key, { session }]) => ({ key, session: await session.catch(() => undefined) })));
    const idle = known.flatMap(({ key, session }) => (session === undefined || session.busy ? [] : [{ key, usedAt: session.usedAt }]));
    const [oldest] = idle.filter(({ usedAt }) => performance.now() - usedAt >= KEPT_MS).toSorted((a, b) => a.usedAt - b.usedAt);
    if (oldest !== undefined) return this.drop(oldest.key);
    throw new ToolError(
      'unavailable',
      `Too many open pages: ${whose} ${candidates.length}. Use the action close where one is not needed.`,
      {
        retryable: true,
      },
    );
  }

  private async closeIdle(): Promise<void> {
    await this.closeWhere((session) => session.closed || (!session.busy && performance.now() - session.usedAt >= this.settings.idleMs));
    if (this.entries.size === 0) await this.engine.close();
  }

  private async closeWhere(isOver: (session: BrowserSession) => boolean): Promise<void> {
    for (const [key, { session }] of this.entries) {
      const opened = await session.catch(() => undefined);
      if (opened === undefined || isOver(opened)) await this.drop(key);
    }
  }

  private async drop(key: string): Promise<void> {
    const entry = this.entries.get(key);
    this.entries.delete(key);
    await (await entry?.session.catch(() => undefined))?.close();
  }
}

async function isClosed({ session }: Entry): Promise<boolean> {
  return (await session.catch(() => undefined))?.closed !== false;
}
