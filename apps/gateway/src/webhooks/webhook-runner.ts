import type { Logger } from 'pino';
import type { WebhookSettings } from '#contracts';
import type { Delivery, EventHub, Subscription } from '#event-log';
import { telemetry } from '#observability';
import { everyMs, type Ticker } from '#timing';
import { toDelivery } from './to-delivery.js';
import type { WebhookSender } from './webhook-sender.service.js';
import { RENEW_MS, type StoredDelivery, type WebhookStore } from './webhook-store.service.js';

/** Concurrent tries of one webhook: a slow receiver delays no other. */
const CONCURRENCY = 4;
/** Most waiting deliveries; above it, the log is not read until some have arrived. */
const MOST_WAITING = 10_000;
const LONGEST_WAIT_MS = 6 * 3_600_000;

export interface RunnerParts {
  readonly store: WebhookStore;
  readonly sender: WebhookSender;
  readonly hub: Pick<EventHub, 'subscribe' | 'ready'>;
  readonly log: Logger;
  /** Id of this gateway as a lease holder. */
  readonly who: string;
}

/**
 * Runner of one webhook on this gateway. While it holds the lease it follows the log from the stored position: events →
 * deliveries in Redis, with the position → tries until they arrive or are dead. After a crash another gateway continues from
 * that position, so an event is sent at least once.
 */
export class WebhookRunner {
  private readonly webhook: string;
  private readonly closing = new AbortController();
  private readonly ticker: Ticker;
  private readonly trying = new Map<string, Promise<void>>();
  private subscription: Subscription | undefined;
  private writes: Promise<void> = Promise.resolve();
  private ticking: Promise<void> = Promise.resolve();
  private isReady = false;
  private next: NodeJS.Timeout | undefined;
  private pumping = false;

  constructor(
    private readonly tenantId: string,
    readonly settings: WebhookSettings,
    private readonly parts: RunnerParts,
  ) {
    this.webhook = `${tenantId}/${settings.name}`;
    this.ticker = everyMs(RENEW_MS, () => this.tickNext());
    void parts.hub.ready.then(() => {
      this.isReady = true;
      return this.tickNext();
    });
  }

  /** Aborts running tries, which another gateway repeats. Idempotent, never rejects. */
  async close(): Promise<void> {
    this.ticker.unsubscribe();
    clearTimeout(this.next);
    this.closing.abort();
    await this.ticking;
    this.stopReading();
    await this.writes;
    await Promise.all(this.trying.values());
    await this.parts.store.release(this.webhook, this.parts.who).catch(() => {});
  }

  /** Tries retried and due deliveries now. */
  poke(): void {
    if (this.subscription !== undefined) void this.pump();
  }

  private tickNext(): Promise<void> {
    return (this.ticking = this.ticking.then(() => this.tick()));
  }

  /** Never rejects: while Redis is unreachable the lease expires, and reading begins again at the stored position. */
  private async tick(): Promise<void> {
    const { store, who, log } = this.parts;
    if (this.closing.signal.aborted || !this.isReady) return;
    try {
      if (!(await store.hold(this.webhook, who))) return this.stopReading();
      const isFull = (await store.count(this.webhook, 'waiting')) >= MOST_WAITING;
      if (isFull) this.stopReading();
      else if (this.subscription === undefined) await this.read();
      else await this.keepPlace(this.subscription);
      void this.pump();
    } catch (error) {
      this.stopReading();
      log.debug({ webhook: this.webhook, err: error }, 'a webhook waits for Redis');
    }
  }

  private async read(): Promise<void> {
    const { store, hub, log } = this.parts;
    await this.writes;
    const cursor = await store.cursor(this.webhook);
    if (this.closing.signal.aborted) return;
    const request = { tenantId: this.tenantId, filter: { types: [...this.settings.types] } };
    const deliver = (delivery: Delivery) => this.onDelivery(delivery, subscription);
    const writable = () => this.writes;
    let subscription: Subscription;
    try {
      subscription = hub.subscribe({ ...request, cursor, deliver, writable });
    } catch (error) {
      log.error({ webhook: this.webhook, err: error }, 'the log position of a webhook cannot be read: it continues with new events');
      subscription = hub.subscribe({ ...request, deliver, writable });
    }
    this.subscription = subscription;
  }

  private onDelivery(delivery: Delivery, from: Subscription): void {
    if (from !== this.subscription) return;
    switch (delivery.kind) {
      case 'started':
        return this.write([], delivery.cursor);
      case 'events':
        return this.write(
          delivery.batch.events.flatMap((event) => toDelivery(this.settings, event) ?? []),
          delivery.batch.cursor,
        );
      case 'resync':
        this.parts.log.error({ webhook: this.webhook, reason: delivery.reason }, 'event log gap: a webhook may miss events');
        return this.write([], delivery.cursor);
      case 'failed':
        return this.stopReading();
      default:
        return delivery satisfies never;
    }
  }

  /**
   * Writes deliveries in the order of the log. After a failed write nothing more is written: reading begins again at the stored
   * position.
   */
  private write(deliveries: readonly StoredDelivery[], cursor: string): void {
    const { subscription } = this;
    this.writes = this.writes.then(async () => {
      if (subscription === undefined || subscription !== this.subscription) return;
      try {
        await this.parts.store.add(this.webhook, deliveries, cursor);
        if (deliveries.length > 0) void this.pump();
      } catch (error) {
        this.stopReading();
        this.parts.log.warn({ webhook: this.webhook, err: error }, 'events for a webhook could not be stored; they are read again');
      }
    });
  }

  /** Stores the position of a webhook with few events, so that the log does not drop events after it. */
  private async keepPlace(subscription: Subscription): Promise<void> {
    const place = subscription.progress;
    if (place !== undefined) this.write([], place);
    await this.writes;
  }

  private stopReading(): void {
    this.subscription?.close();
    this.subscription = undefined;
    clearTimeout(this.next);
  }

  /** Starts tries while there is room, then sleeps until the next is due. Never rejects. */
  private async pump(): Promise<void> {
    if (this.pumping || this.closing.signal.aborted) return;
    this.pumping = true;
    try {
      const found = await this.parts.store.list(this.webhook, 'waiting', CONCURRENCY * 2);
      const now = Date.now();
      for (const [delivery, at] of found)
        if (at <= now && this.trying.size < CONCURRENCY && !this.trying.has(delivery.id)) this.begin(delivery);
      const later = found.find(([{ id }, at]) => at > now && !this.trying.has(id));
      if (later !== undefined) this.sleepUntil(later[1]);
    } catch (error) {
      this.parts.log.debug({ webhook: this.webhook, err: error }, 'the deliveries of a webhook cannot be read now');
    } finally {
      this.pumping = false;
    }
  }

  private begin(delivery: StoredDelivery): void {
    const attempt = this.attempt(delivery)
      .catch((error: unknown) => {
        if (!this.closing.signal.aborted)
          this.parts.log.warn({ webhook: this.webhook, delivery: delivery.id, err: error }, 'a delivery could not be tried');
        return false;
      })
      .then((isNoted) => {
        this.trying.delete(delivery.id);
        // A try without a stored result is repeated at the next tick, not at once.
        if (isNoted) void this.pump();
      });
    this.trying.set(delivery.id, attempt);
  }

  private async attempt(delivery: StoredDelivery): Promise<boolean> {
    const { store, sender, log } = this.parts;
    const start = performance.now();
    const fault = await sender.send(this.tenantId, this.settings, delivery, this.closing.signal);
    const attempts = delivery.attempts + 1;
    const isDead = fault !== undefined && attempts >= this.settings.attempts;
    const result = fault === undefined ? 'delivered' : isDead ? 'dead' : 'failed';
    telemetry.webhookSent.emit({ result, tookMs: performance.now() - start });
    if (isDead) log.error({ webhook: this.webhook, delivery: delivery.id, fault }, 'a delivery to a webhook was given up');
    const tried = { ...delivery, attempts, ...(fault === undefined ? {} : { lastError: fault }) };
    const wait = result === 'failed' ? waitMs(this.settings.retryMs, attempts) : 0;
    await store.move(this.webhook, tried, 'waiting', result === 'failed' ? 'waiting' : result, Date.now() + wait);
    return true;
  }

  private sleepUntil(at: number): void {
    clearTimeout(this.next);
    this.next = setTimeout(() => void this.pump(), Math.min(RENEW_MS, Math.max(1, at - Date.now()))).unref();
  }
}

/** Delay before the next try: four times the previous one, plus up to a fifth, so that the retries of an outage do not coincide. */
function waitMs(firstMs: number, attempts: number): number {
  return Math.min(LONGEST_WAIT_MS, firstMs * 4 ** (attempts - 1)) * (1 + Math.random() / 5);
}
