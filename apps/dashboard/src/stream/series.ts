import type { StatsPoint } from '#contracts';

/** The most samples for percentiles of one step; then each new one may replace a random one (reservoir sampling, algorithm R). */
const SAMPLES = 256;

export interface Point {
  /** Begin of the step, milliseconds since 1970. */
  readonly at: number;
  /** Calls a second. */
  readonly submitted: number;
  readonly ended: number;
  /** Error results included. */
  readonly failed: number;
  /** Completed calls with an error result. */
  readonly errors: number;
  /** Calls denied by a rule or a person; not failed. */
  readonly denied: number;
  /** Calls until now; the rates of the current step are for the time it has lasted. */
  readonly ends: { readonly ended: number; readonly failed: number; readonly denied: number };
  readonly wait: Percentiles;
  readonly run: Percentiles;
}

/** How a call failed: by its outcome, or with an error result; or that it was denied. */
export type Failure = 'failed' | 'error' | 'denied';

/** Milliseconds; absent where nothing was measured. */
export interface Percentiles {
  readonly p50?: number | undefined;
  readonly p95?: number | undefined;
  readonly p99?: number | undefined;
}

interface Step {
  submitted: number;
  ended: number;
  failed: number;
  errors: number;
  denied: number;
  readonly wait: Samples;
  readonly run: Samples;
}

interface Samples {
  count: number;
  readonly values: number[];
  /** Percentiles of `values`, until the next value arrives. */
  percentiles: Percentiles | undefined;
}

/**
 * Numbers over time in a ring of steps, as many as the window has. Starts with the numbers of the gateway (`seed`), then events
 * update it.
 */
export class Series {
  private readonly steps = new Map<number, Step>();
  private readonly seeded = new Map<number, StatsPoint>();
  private seededStepMs = 1;
  /** Events before it are in the seed. */
  private liveFrom = 0;

  constructor(
    readonly stepMs: number,
    readonly length: number,
    private readonly random: () => number = Math.random,
  ) {}

  /** Replaces the numbers before `until` by the gateway's. */
  seed(points: readonly StatsPoint[], stepMs: number, until: number): void {
    this.seeded.clear();
    for (const point of points) this.seeded.set(Math.floor(Date.parse(point.at) / stepMs) * stepMs, point);
    this.seededStepMs = stepMs;
    this.liveFrom = until;
    for (const at of this.steps.keys()) if (at + this.stepMs <= until) this.steps.delete(at);
  }

  submitted(at: number): void {
    this.step(at).submitted += 1;
  }

  started(at: number, waitMs: number): void {
    this.sample(this.step(at).wait, waitMs);
  }

  ended(at: number, failure: Failure | undefined, runMs: number | undefined): void {
    const step = this.step(at);
    step.ended += 1;
    if (failure === 'denied') step.denied += 1;
    else if (failure !== undefined) step.failed += 1;
    if (failure === 'error') step.errors += 1;
    if (runMs !== undefined) this.sample(step.run, runMs);
  }

  /** All steps of the window that ends now, oldest first, empty ones included. */
  points(now: number): Point[] {
    const last = this.floor(now);
    const first = last - (this.length - 1) * this.stepMs;
    for (const at of this.steps.keys()) if (at < first) this.steps.delete(at);
    return Array.from({ length: this.length }, (_, index) => this.point(first + index * this.stepMs, now));
  }

  private point(at: number, now: number): Point {
    const counted = at < this.liveFrom ? this.seededPoint(at) : undefined;
    const live = this.steps.get(at);
    // The rate of the current step is over the time it has lasted, so that it neither starts at zero nor jumps.
    const seconds = Math.max(500, Math.min(this.stepMs, now - at)) / 1000;
    const seededSeconds = this.seededStepMs / 1000;
    const rate = (name: 'submitted' | 'ended' | 'failed' | 'errors') =>
      (counted ? counted[name] / seededSeconds : 0) + (live ? live[name] / seconds : 0);
    const share = this.stepMs / this.seededStepMs;
    const ends = (name: 'ended' | 'failed') => (counted?.[name] ?? 0) * share + (live?.[name] ?? 0);
    return {
      at,
      submitted: rate('submitted'),
      ended: rate('ended'),
      failed: rate('failed'),
      errors: rate('errors'),
      denied: (counted ? (counted.outcomes.denied ?? 0) / seededSeconds : 0) + (live ? live.denied / seconds : 0),
      ends: { ended: ends('ended'), failed: ends('failed'), denied: (counted?.outcomes.denied ?? 0) * share + (live?.denied ?? 0) },
      wait: live && live.wait.count > 0 ? known(live.wait) : (counted?.wait ?? {}),
      run: live && live.run.count > 0 ? known(live.run) : (counted?.run ?? {}),
    };
  }

  private seededPoint(at: number): StatsPoint | undefined {
    return this.seeded.get(Math.floor(at / this.seededStepMs) * this.seededStepMs);
  }

  private step(at: number): Step {
    const begin = this.floor(at);
    const known = this.steps.get(begin);
    if (known) return known;
    const step: Step = { submitted: 0, ended: 0, failed: 0, errors: 0, denied: 0, wait: noSamples(), run: noSamples() };
    this.steps.set(begin, step);
    const surplus = this.steps.size - 2 * this.length;
    if (surplus > 0) for (const old of [...this.steps.keys()].sort((a, b) => a - b).slice(0, surplus)) this.steps.delete(old);
    return step;
  }

  private sample(samples: Samples, value: number): void {
    samples.count += 1;
    samples.percentiles = undefined;
    if (samples.values.length < SAMPLES) samples.values.push(value);
    else {
      const place = Math.floor(this.random() * samples.count);
      if (place < SAMPLES) samples.values[place] = value;
    }
  }

  private floor(at: number): number {
    return Math.floor(at / this.stepMs) * this.stepMs;
  }
}

function noSamples(): Samples {
  return { count: 0, values: [], percentiles: undefined };
}

function known(samples: Samples): Percentiles {
  return (samples.percentiles ??= percentilesOf(samples.values));
}

/** Nearest rank. */
export function percentilesOf(values: readonly number[]): Percentiles {
  if (values.length === 0) return {};
  const sorted = [...values].sort((a, b) => a - b);
  const rank = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
  return { p50: rank(0.5), p95: rank(0.95), p99: rank(0.99) };
}
