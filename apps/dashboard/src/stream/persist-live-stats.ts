import type { Pool } from '#contracts';
import type { ToolyardClient } from '#client';
import type { Feed } from './feed.js';
import type { LiveStats } from './live-stats.js';

/** How often the numbers are reloaded; events update them in between. */
const ANCHOR_MS = 10_000;

interface LiveStatsParts {
  readonly client: ToolyardClient;
  readonly board: LiveStats;
  readonly feed: Feed;
}

/** Loads what events do not contain, now and regularly while the page is visible. Returns a function that stops it. */
export function persistLiveStats({ client, board, feed }: LiveStatsParts): () => void {
  const stopping = new AbortController();
  const { signal } = stopping;
  const pools = new Map<string, Pool>();

  const ask = async () => {
    if (document.hidden) return;
    const now = new Date();
    const since = new Date(now.getTime() - 60_000).toISOString();
    const [stats, queues, workers, tools] = await Promise.allSettled([
      client.stats.overview({ since }, { signal }),
      client.queues.list({ signal }),
      client.workers.list({ signal }),
      pools.size === 0 ? client.tools.list({}, { signal }) : Promise.resolve([]),
    ]);
    if (signal.aborted) return;
    if (tools.status === 'fulfilled') for (const { name, pool } of tools.value) pools.set(name, pool);
    if (stats.status === 'fulfilled') board.anchor(stats.value.now, (tool) => pools.get(tool));
    if (queues.status === 'fulfilled') board.anchorQueues(queues.value);
    if (workers.status === 'fulfilled') board.anchorWorkers(workers.value);
  };
  // Failures are retried by the next tick; the connection badge shows an outage.
  const tick = () => void ask().catch(() => undefined);
  tick();
  const timer = setInterval(tick, ANCHOR_MS);
  document.addEventListener('visibilitychange', tick);
  const stopFeed = feed.onLive(tick);
  return () => {
    stopping.abort();
    clearInterval(timer);
    document.removeEventListener('visibilitychange', tick);
    stopFeed();
  };
}
