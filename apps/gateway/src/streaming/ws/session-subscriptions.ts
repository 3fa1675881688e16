import { ProblemError } from '#contracts';
import type { WsSubscription } from './ws-subscription.js';

export interface SubscriptionLimits {
  /** Most submitted calls of one socket that have not ended. */
  readonly followedCalls: number;
  readonly filters: number;
}

/** Subscriptions of one socket, by the client's id. */
export class SessionSubscriptions implements Iterable<WsSubscription> {
  private readonly byId = new Map<string, WsSubscription>();
  /** Number of subscriptions to submitted calls. */
  private followed = 0;

  constructor(private readonly limits: SubscriptionLimits) {}

  [Symbol.iterator](): Iterator<WsSubscription> {
    return this.byId.values();
  }

  has(subscription: WsSubscription): boolean {
    return this.byId.get(subscription.id) === subscription;
  }

  /** @throws ProblemError `conflict`, `too_many_requests` */
  add(subscription: WsSubscription): void {
    const { id, followed } = subscription;
    const { filters, followedCalls } = this.limits;
    if (this.byId.has(id)) throw new ProblemError('conflict', 'This id is in use on this socket: unsubscribe it first, or take another');
    if (!followed && this.byId.size - this.followed >= filters)
      throw new ProblemError('too_many_requests', `A socket may have ${filters} subscriptions at once`);
    if (followed && this.followed >= followedCalls)
      throw new ProblemError('too_many_requests', `A socket may have ${followedCalls} submitted calls under way`);
    this.byId.set(id, subscription);
    if (followed) this.followed += 1;
  }

  /** Closes the subscription and frees its id. */
  drop(subscription: WsSubscription): void {
    subscription.close();
    if (!this.has(subscription)) return;
    this.byId.delete(subscription.id);
    if (subscription.followed) this.followed -= 1;
  }

  /** @throws ProblemError `resource_not_found` */
  dropById(id: string): void {
    const subscription = this.byId.get(id);
    if (subscription === undefined) throw new ProblemError('resource_not_found', 'This socket has no subscription with this id');
    this.drop(subscription);
  }

  /** Ends all deliveries. The ids remain in use: the socket is about to close. */
  closeAll(): void {
    for (const subscription of this.byId.values()) subscription.close();
  }

  /** Cursor for resumption, if there is exactly one subscription; of several, each sent frame had its own. */
  onlyCursor(): string | undefined {
    const [subscription, another] = this.byId.values();
    return another ? undefined : subscription?.sentCursor;
  }
}
