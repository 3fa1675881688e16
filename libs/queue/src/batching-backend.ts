import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { RedisQueueBackend, type IQueueBackend, type JobJson, type MinimalJob } from 'bullmq';
import { JOB_NAME, JOB_OPTIONS, LOCK_MS, lockOf } from './bull-settings.js';
import type { LuaScript, RedisConnection, TakeAnswer, TakeScript } from '#redis';
import { commandOf, composeTake, type QueueScript } from './queue-scripts.js';
import { TickBatcher } from './tick-batcher.js';

const MAX_BATCH = 500;
/** How long a backend that closes waits for Redis to have what was added: the log's timers look after what it has not. */
const LAST_ADDS_MS = 2_000;
const KEPT_OPTIONS = JSON.stringify(JOB_OPTIONS);

type NewJob = { readonly id: string; readonly name: string; readonly data: string; readonly priority: number; readonly tenant: string };
/** What BullMQ's Worker takes as "the next job": nothing, or the job, its id, a rate limit delay and a time to wait until. */
type NextJob = [] | [job: JobJson, id: string, rateLimitDelay: 0, delayUntil: 0];
/** A loop asks for one job; a finished job may ask for the next; `tidy` only makes a run happen. */
type Move = { readonly kind: 'ask' } | { readonly kind: 'finish'; readonly id: string; readonly next: boolean } | { readonly kind: 'tidy' };

/**
 * BullMQ's Redis backend with the hot path made of batches: adds of a tick in one script, and N jobs ended and M fetched
 * in another. All else is stock, and the keys are BullMQ's, so both backends may work on one queue at the same time.
 *
 * BullMQ invariants that hold: a job is in exactly one of wait, prioritized, active; an active job has a lock, renewed by
 * the Worker; the hash of a job exists until it ended; whenever jobs may run, the marker is set or somebody is about to
 * ask. What is left out, because calls do not use it: delayed jobs, rate limits, flows, deduplication, schedulers,
 * metrics, kept jobs, and the event stream (QueueEvents sees nothing).
 *
 * Lost wake-ups: an idle Worker blocks on the marker, takes it and asks. An ask never joins a script that has already
 * been sent, since that may have looked before the job came. "Nothing there" is answered without a script only if the
 * last script said so and this worker has not taken the marker since: the Worker then blocks on the marker, which every
 * later add sets.
 *
 * Over-fetch: when the Worker's loop asks, jobs for all its free slots are fetched, since the loop asks until they are
 * full before it does anything else. They wait in `surplus` for those asks and go back to Redis when the worker stops.
 * As jobs are fetched before it is known which ask gets them, one lock token serves the whole backend.
 *
 * With a take script (`runWhenTaken`) what is fetched has also begun: it is never given back. Jobs whose answer got lost
 * with its connection are looked up afterwards and handed out, and those left in `surplus` at the end are the caller's to run.
 */
export class BatchingBackend extends RedisQueueBackend {
  private readonly lockToken = randomUUID();
  private readonly adds = new TickBatcher<NewJob, string>((jobs) => this.runAdds(jobs), MAX_BATCH, 'now');
  private readonly moves = new TickBatcher<Move, NextJob>((moves) => this.runMoves(moves), MAX_BATCH, 'now');
  private readonly inHand = new Set<string>();
  private surplus: NextJob[] = [];
  private slots = 1;
  private lockMs = LOCK_MS;
  private knownEmpty = false;
  private stopping = false;
  /** Set when jobs may stand under our lock that we do not know of, or will not run. */
  private untidy = false;
  private take: { readonly on: RedisConnection; readonly script: LuaScript; readonly args: readonly string[] } | undefined;
  private readonly takeAnswers = new Map<string, TakeAnswer>();

  /** How many jobs the Worker runs at once; must be kept equal to the Worker's concurrency. */
  setSlots(slots: number): void {
    this.slots = slots;
  }

  /** How long fetched jobs are this worker's without a renewal; must be kept equal to the Worker's lock. */
  setLock(ms: number): void {
    this.lockMs = ms;
  }

  /** From now on `script` runs for the jobs that are fetched. `on` must be the connection of this backend. */
  runWhenTaken(script: TakeScript, on: RedisConnection): void {
    this.take = { on, script: composeTake(script), args: [String(script.args.length), ...script.args] };
  }

  /** What the take script said about a job that was handed out. To be asked once. */
  takeAnswer(id: string): TakeAnswer | undefined {
    const answer = this.takeAnswers.get(id);
    this.takeAnswers.delete(id);
    return answer;
  }

  /** From now on no job is fetched ahead. Those that were go back at once, or are answered where they have begun already. */
  async stopFetchingAhead(): Promise<readonly JobJson[]> {
    this.stopping = true;
    if (this.take === undefined) {
      await this.tidy();
      return [];
    }
    await this.moves.add({ kind: 'tidy' });
    return this.surplus.splice(0).flatMap(([job]) => job ?? []);
  }

  /** To be called after a reconnect: answers may have been lost, and with them jobs and wake-ups. */
  async tidy(): Promise<void> {
    this.untidy = true;
    await this.moves.add({ kind: 'tidy' });
  }

  /** Jobs of one tenant stand in line behind each other, and the tenants of a class take turns. */
  async addInTurn(tenant: string, id: string, data: string, priority: number): Promise<void> {
    await this.adds.add({ id, name: JOB_NAME, data, priority, tenant });
  }

  override async addJob(job: JobJson, jobId: string): Promise<string> {
    return this.adds.add(plainJob(job, jobId));
  }

  override async addJobs(entries: Parameters<IQueueBackend['addJobs']>[0]): Promise<string[]> {
    return Promise.all(entries.map(({ job, jobId }) => this.addJob(job, jobId)));
  }

  override async moveToActive(): Promise<NextJob> {
    const ready = this.surplus.shift();
    if (ready) return this.handOut(ready);
    if (this.knownEmpty) return [];
    return this.moves.add({ kind: 'ask' });
  }

  override async moveToCompleted(
    job: MinimalJob,
    _value: unknown,
    _keep: unknown,
    _token: string,
    fetchNext: boolean,
  ): Promise<{ result: NextJob; finishedOn: number }> {
    const id = job.id ?? '';
    const result = await this.moves.add({ kind: 'finish', id, next: fetchNext && !this.stopping });
    return { result, finishedOn: Date.now() };
  }

  /** Of a job that no loop of the Worker runs. */
  async end(id: string): Promise<void> {
    await this.moves.add({ kind: 'finish', id, next: false });
  }

  /** Only jobs that were found stalled end here. The script is stock, so it may give a next job, which is then in hand. */
  override async moveToFailed(
    job: MinimalJob,
    reason: string,
    keep: Parameters<RedisQueueBackend['moveToFailed']>[2],
    _token: string,
    fetchNext: boolean,
    fields?: Record<string, unknown>,
  ) {
    const moved = await super.moveToFailed(job, reason, keep, this.lockToken, fetchNext, fields);
    this.inHand.delete(job.id ?? '');
    if (moved.result) this.handOut([moved.result[0], moved.result[1], 0, 0]);
    return moved;
  }

  override async extendLocks(jobIds: string[], _tokens: string[], duration: number): Promise<string[]> {
    return super.extendLocks(
      jobIds,
      jobIds.map(() => this.lockToken),
      duration,
    );
  }

  /**
   * Gives jobs without a lock back to the queue; the first of all workers that asks within an interval looks. Stock would need
   * two looks, and fail the job for its stalling: whether its call may run is for the log to say.
   */
  override async moveStalledJobsToWait(): Promise<string[]> {
    const { wait, active, stalled, marker } = this.keys;
    const given = await this.script(
      'returnStalled',
      [wait, active, stalled, marker, this.toKey('stalled-check')],
      [this.toKey(''), String(Math.floor(lockOf(this.lockMs).stalledInterval * 0.8))],
    );
    return Array.isArray(given) ? given.map(String) : [];
  }

  override async waitForJob(blockTimeout: number) {
    try {
      return await super.waitForJob(blockTimeout);
    } finally {
      this.knownEmpty = false;
    }
  }

  override async close(force?: boolean): Promise<void> {
    if (!force) await Promise.race([this.adds.drained(), sleep(LAST_ADDS_MS, undefined, { ref: false })]);
    return super.close(force);
  }

  private handOut(next: NextJob): NextJob {
    if (next[1] !== undefined) this.inHand.add(next[1]);
    return next;
  }

  private async runAdds(jobs: readonly NewJob[]): Promise<string[]> {
    const { prioritized, marker } = this.keys;
    const args = jobs.flatMap((job) => [job.id, String(job.priority), job.data, job.tenant]);
    await this.script(
      'addJobs',
      [prioritized, this.toKey('fair'), marker],
      [this.toKey(''), jobs[0]?.name ?? '', KEPT_OPTIONS, String(Date.now()), ...args],
    );
    return jobs.map((job) => job.id);
  }

  private async runMoves(moves: readonly Move[]): Promise<NextJob[]> {
    if (this.untidy) await (this.take === undefined ? this.giveBack() : this.adopt(this.take.on));
    const finished = moves.flatMap((move) => (move.kind === 'finish' ? [move.id] : []));
    const wanting = moves.filter((move) => wantsJob(move)).length;
    if (finished.length === 0 && wanting === 0) return moves.map(() => []);

    const asked = moves.some((move) => move.kind === 'ask');
    const ahead = asked && !this.stopping ? Math.max(0, this.slots - this.inHand.size - 1) : 0;
    const wanted = Math.max(0, wanting + ahead - this.surplus.length);
    const fetched = await this.finishAndFetch(finished, Math.min(wanted, MAX_BATCH));
    const jobs = [...this.surplus.splice(0), ...fetched];
    for (const id of finished) this.inHand.delete(id);
    // In the order in which they will start: of those that hear of it now, a loop that asked is quicker than one that ends a job.
    const forAsks = jobs.splice(0, moves.filter((move) => move.kind === 'ask').length);
    const answers = moves.map((move) => this.handOut(wantsJob(move) ? ((move.kind === 'ask' ? forAsks : jobs).shift() ?? []) : []));
    this.surplus.push(...jobs);
    return answers;
  }

  private async finishAndFetch(finished: readonly string[], wanted: number): Promise<NextJob[]> {
    const { wait = '', active = '', prioritized = '', stalled = '', meta = '', marker = '' } = this.keys;
    const keys = [wait, active, prioritized, stalled, meta, marker, this.toKey('fair')];
    const args = [this.toKey(''), this.lockToken, String(this.lockMs), String(wanted), ...finished];
    if (this.take === undefined) return this.fetched(await this.script('finishAndFetch', keys, args));

    const answer = await this.take.script.run(this.take.on, keys, [...this.take.args, ...args]);
    if (!Array.isArray(answer)) throw new Error(`take.lua answered ${typeof answer}, expected a list.`);
    const jobs = this.fetched(answer[0]);
    const said: unknown = answer[1];
    const begun = jobs.flatMap(([job]) => (job === undefined || job.deferredFailure !== undefined ? [] : job.id));
    for (const [index, id] of begun.entries())
      this.takeAnswers.set(id, Array.isArray(said) ? { kind: 'answered', shared: said[0], own: said[index + 1] } : { kind: 'lost' });
    return jobs;
  }

  private fetched(answer: unknown): NextJob[] {
    if (!Array.isArray(answer)) throw new Error(`finish-and-fetch.lua answered ${typeof answer}, expected a list.`);
    this.knownEmpty = answer[0] === 1;
    const jobs: NextJob[] = [];
    for (let i = 1; i < answer.length; i += 4)
      jobs.push(nextJob(String(answer[i]), String(answer[i + 1]), Number(answer[i + 2]), answer[i + 3]));
    return jobs;
  }

  /** Jobs under our lock that no answer brought: they have begun, so they are run here. */
  private async adopt(on: RedisConnection): Promise<void> {
    this.untidy = false;
    const ids = await on.lrange(this.keys.active ?? '', 0, -1);
    const known = new Set([...this.inHand, ...this.surplus.map(([, id]) => id)]);
    const strange = ids.filter((id) => !known.has(id));
    const locks = await Promise.all(strange.map((id) => on.get(`${this.toKey(id)}:lock`)));
    const ours = strange.filter((_, index) => locks[index] === this.lockToken);
    const found = await Promise.all(ours.map((id) => on.hmget(this.toKey(id), 'data', 'timestamp')));
    for (const [index, id] of ours.entries()) {
      const [data, timestamp] = found[index] ?? [];
      if (typeof data !== 'string') continue;
      this.surplus.push(nextJob(id, data, Number(timestamp), undefined));
      this.takeAnswers.set(id, { kind: 'lost' });
    }
    this.knownEmpty = false;
  }

  private async giveBack(): Promise<void> {
    this.untidy = false;
    this.surplus = [];
    const { wait, active, prioritized, stalled, marker } = this.keys;
    await this.script('giveBack', [wait, active, prioritized, stalled, marker], [this.toKey(''), this.lockToken, ...this.inHand]);
    this.knownEmpty = false;
  }

  private async script(script: QueueScript, keys: (string | undefined)[], args: string[]): Promise<unknown> {
    const client = await this.client;
    return client.runCommand(commandOf(script), [...keys, ...args]);
  }
}

function wantsJob(move: Move): boolean {
  return move.kind === 'ask' || (move.kind === 'finish' && move.next);
}

function plainJob(job: JobJson, id: string): NewJob {
  const { priority, delay, deduplication } = job.opts;
  if (!id || !priority || delay || deduplication || job.parentKey || job.repeatJobKey) {
    throw new Error(
      'The batching backend takes jobs with an id and a priority, and without delay, parent, deduplication or schedule. Use the stock backend for others.',
    );
  }
  return { id, name: job.name, data: job.data, priority, tenant: '' };
}

function nextJob(id: string, data: string, timestamp: number, deferredFailure: unknown): NextJob {
  const job: JobJson = {
    id,
    name: 'call',
    data,
    opts: JOB_OPTIONS,
    progress: 0,
    attemptsMade: 0,
    attemptsStarted: 1,
    stalledCounter: 0,
    timestamp,
    processedOn: Date.now(),
    failedReason: 'null',
    returnvalue: 'null',
    ...(typeof deferredFailure === 'string' ? { deferredFailure } : {}),
  };
  return [job, id, 0, 0];
}
