import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Meters } from './meters.js';

/** Each sample wakes the process; a shorter block may lie between two. */
const RESOLUTION_MS = 50;
const nanoseconds = (ns: number) => (Number.isFinite(ns) ? Math.max(0, ns / 1e9 - RESOLUTION_MS / 1000) : 0);

export interface ProcessCollector {
  /** Writes the readings since the last `collect`. */
  collect(): void;
  close(): void;
}

/**
 * Event-loop delay, CPU and memory of this process. The delay histogram covers the time between two scrapes, less its own
 * sampling interval: 0 means that the loop was never blocked.
 */
export function collectProcess(meters: Meters): ProcessCollector {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  let cpu = { user: 0, system: 0 };
  meters.processStart.set(Math.round(Date.now() / 1000 - process.uptime()));

  const collectDelay = () => {
    meters.eventLoopDelayMedian.set(nanoseconds(delay.count === 0 ? 0 : delay.percentile(50)));
    meters.eventLoopDelayP99.set(nanoseconds(delay.count === 0 ? 0 : delay.percentile(99)));
    meters.eventLoopDelayMax.set(nanoseconds(delay.count === 0 ? 0 : delay.max));
    delay.reset();
  };
  const collectUsage = () => {
    const now = process.cpuUsage();
    meters.processCpu.inc({ mode: 'user' }, (now.user - cpu.user) / 1e6);
    meters.processCpu.inc({ mode: 'system' }, (now.system - cpu.system) / 1e6);
    cpu = now;
    const memory = process.memoryUsage();
    meters.processResidentMemory.set(memory.rss);
    meters.processHeapUsed.set(memory.heapUsed);
  };
  return {
    collect: () => {
      collectDelay();
      collectUsage();
    },
    close: () => void delay.disable(),
  };
}
