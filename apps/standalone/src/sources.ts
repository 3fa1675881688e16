import { setTimeout as pause } from 'node:timers/promises';
import { SourceHost, type SourceHealth } from '#sources';
import type { RunningWorker } from '../../worker/src/main.js';

const LOOK_MS = 50;

/** A source of tools as the start message shows it. */
export type FoundSource = SourceHealth & { readonly name: string };

/** The sources of the worker. Waits until each was read once, at most for `withinMs`. */
export async function sourcesOf({ app }: RunningWorker, withinMs: number): Promise<readonly FoundSource[]> {
  const end = Date.now() + withinMs;
  const host = app.get(SourceHost);
  await host.follow();
  for (;;) {
    const found = host.health();
    if (Date.now() >= end || found.every(({ state }) => state !== 'connecting')) return found;
    await pause(LOOK_MS);
  }
}
