/** A system under load: `start` submits call number i and gives its id; `onDone` tells the ids of calls that are over. */
export interface Contender {
  readonly name: string;
  /** Process ids by role, for CPU and memory. */
  readonly processes: Readonly<Record<string, number>>;
  readonly redisUrl: string;
  /** The loads that it takes part in; absent: all. */
  readonly loads?: readonly ('flood' | 'one' | 'sixtyFour')[];
  start(index: number): Promise<string> | string;
  onDone(listener: (ids: readonly string[]) => void): void;
  close(): Promise<void>;
}

export interface Run {
  readonly callsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

const DEADLINE_MS = 120_000;

/** Runs `calls` calls with at most `inFlight` of them open; latency is from the submission to the news that it is over. */
export async function runLoad(contender: Contender, calls: number, inFlight: number): Promise<Run> {
  const startedAt = new Map<string, number>();
  const early = new Map<string, number>();
  const latencies: number[] = [];
  const begin = performance.now();

  await new Promise<void>((resolve, reject) => {
    const deadline = setTimeout(
      () => reject(new Error(`${contender.name}: ${latencies.length} of ${calls} calls ended within ${DEADLINE_MS} ms.`)),
      DEADLINE_MS,
    );
    let next = 0;
    const finish = (from: number, to: number) => {
      latencies.push(to - from);
      if (latencies.length === calls) {
        clearTimeout(deadline);
        resolve();
      } else fill();
    };
    const launch = async (index: number) => {
      const at = performance.now();
      const id = await contender.start(index);
      const endedAt = early.get(id);
      if (endedAt === undefined) startedAt.set(id, at);
      else finish(at, endedAt);
    };
    const fill = () => {
      while (next < calls && next - latencies.length < inFlight) launch(next++).catch(reject);
    };
    contender.onDone((ids) => {
      const now = performance.now();
      for (const id of ids) {
        const from = startedAt.get(id);
        if (from === undefined) early.set(id, now);
        else if (startedAt.delete(id)) finish(from, now);
      }
    });
    fill();
  });

  const seconds = (performance.now() - begin) / 1000;
  latencies.sort((a, b) => a - b);
  return { callsPerSecond: calls / seconds, p50Ms: quantile(latencies, 0.5), p99Ms: quantile(latencies, 0.99) };
}

export function quantile(sorted: readonly number[], q: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  return quantile(
    [...values].sort((a, b) => a - b),
    0.5,
  );
}
