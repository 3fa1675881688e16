import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { RedisQueueBackend, type IQueueBackend, type JobJson, type MinimalJob } from 'bullmq';
import { JOB_NAME, JOB_OPTIONS, LOCK_MS, lockOptions } from './bull-settings.js';
import type { LuaScript, RedisConnection, DequeueHookResult, DequeueHook } from '#redis';
import { IdleRegistration } from './idle-registration.js';
import { commandOf, composeHandOver, composeTake, idleKeyOf, type QueueScript } from './queue-scripts.js';
import { parseClaims, parseFetched, nextJob, type NextJob } from './dequeued-jobs.js';
import { MicroBatcher } from './micro-batcher.js';

const MAX_BATCH = 500;
/** How long a backend that closes waits for Redis to have what was added: the log's timers look after what it has not. */
const LAST_ADDS_MS = 2_000;
/** How long a backend that stops waits for Redis to say which jobs are its own: the leases of their calls look after the others. */
const LAST_JOBS_MS = 2_000;
/** How long after it was found out that a note was used its message is taken for lost. */
const LOST_MESSAGE_MS = 500;
const KEPT_OPTIONS = JSON.stringify(JOB_OPTIONS);

interface NewJob {
  readonly id: string;
  readonly name: string;
  readonly data: string;
  readonly priority: number;
  readonly tenant: string;
  /** It may run again when a worker that it was handed to turns out to hang. */
  readonly repeatable: boolean;
}
/** A loop asks for one job; a finished job may ask for the next; `tidy` only makes a run happen. */
type Move = { readonly kind: 'ask' } | { readonly kind: 'finish'; readonly id: string; readonly next: boolean } | { readonly kind: 'tidy' };

/** One of our scripts with somebody's Lua in it. Notes of idle workers are for those whose Lua is the same. */
interface ScriptOnCalls {
  readonly on: RedisConnection;
  readonly script: LuaScript;
  readonly idleKey: string;
}

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
 * later add sets that is not handed over whole.
 *
 * Over-fetch: when the Worker's loop asks, jobs for all its free slots are fetched, since the loop asks until they are
 * full before it does anything else. They wait in `surplus` for those asks and go back to Redis when the worker stops.
 * As jobs are fetched before it is known which ask gets them, one lock token serves the whole backend.
 *
 * With a take script (`runWhenTaken`) what is fetched has also begun: it is never given back. Jobs whose answer got lost
 * with its connection are looked up afterwards and handed out, and those left in `surplus` at the end are the caller's to run.
 *
 * Hand-over: a worker that found nothing leaves a note (`IdleNote`), and who adds jobs next takes them for it in the same
 * script and sends them: no marker, no ask. A note is for the slots that were free and is used once; a script of a worker
 * whose note is gone fetches nothing, as those slots may be taken. So there are never more jobs than slots, and all that
 * holds for fetched jobs holds for handed ones. Only repeatable jobs are handed over, and only when no others wait: a worker
 * that asks was alive a moment ago, one that left a note some seconds ago.
 */
export class BatchingBackend extends RedisQueueBackend {
  private readonly lockToken = randomUUID();
  private readonly adds = new MicroBatcher<NewJob, string>((jobs) => this.runAdds(jobs), MAX_BATCH, 'now');
  private readonly moves = new MicroBatcher<Move, NextJob>((moves) => this.runMoves(moves), MAX_BATCH, 'now');
  private readonly inHand = new Set<string>();
  private surplus: NextJob[] = [];
  private slots = 1;
  private lockMs = LOCK_MS;
  private knownEmpty = false;
  private stopping = false;
  /** Set when jobs may stand under our lock that we do not know of, or will not run. */
  private untidy = false;
  private take: (ScriptOnCalls & { readonly args: readonly string[] }) | undefined;
  private readonly takeAnswers = new Map<string, DequeueHookResult>();
  private handOver: ScriptOnCalls | undefined;
  private readonly idle = new IdleRegistration();
  private handSubscriber: RedisConnection | undefined;
  private listens = false;
  /** Set when a loop that waits, or is about to, shall ask once more. */
  private askAgain = false;
  private markerWait: ReturnType<RedisQueueBackend['waitForJob']> | undefined;
  private wake: (() => void) | undefined;
  /** Jobs that were found under our lock; a message for one of the notes up to then that hands them over comes too late. */
  private readonly adopted = new Map<string, number>();

  /** How many jobs the Worker runs at once; must be kept equal to the Worker's concurrency. */
  setSlots(slots: number): void {
    this.slots = slots;
  }

  /** How long fetched jobs are this worker's without a renewal; must be kept equal to the Worker's lock. */
  setLock(ms: number): void {
    this.lockMs = ms;
  }

  /** From now on `script` runs for the jobs that are fetched. `on` must be the connection of this backend. */
  runWhenTaken(script: DequeueHook, on: RedisConnection): void {
    const { lua, args } = script;
    this.take = { on, script: composeTake(lua), idleKey: this.toKey(idleKeyOf(lua)), args: [String(args.length), ...args] };
  }

  /** From now on jobs that are added go to idle workers at once, to those that run the same for what they take. `on` must be the connection of this backend. */
  handOverTo(lua: string, on: RedisConnection): void {
    this.handOver = { on, script: composeHandOver(lua), idleKey: this.toKey(idleKeyOf(lua)) };
  }

  /**
   * From now on jobs may be handed to this backend, which hears of them on this connection and closes it when it stops.
   * `report` is told when it cannot listen or hears what it does not understand.
   */
  takeHanded(subscriber: RedisConnection, report: (error: Error) => void): void {
    const listen = () => subscriber.subscribe(this.handChannel).then(() => this.listening(), report);
    this.handSubscriber = subscriber;
    subscriber.on('message', (_channel: string, message: string) => {
      try {
        this.receive(message);
      } catch (error) {
        report(error instanceof Error ? error : new Error(String(error)));
      }
    });
    subscriber.on('ready', () => void listen());
    subscriber.on('close', () => {
      this.listens = false;
      // What was on its way here does not come any more.
      this.adopted.clear();
    });
    if (subscriber.status === 'ready') void listen();
  }

  /** What the take script said about a job that was handed out. To be asked once. */
  takeAnswer(id: string): DequeueHookResult | undefined {
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
    await Promise.race([this.tidy().catch(() => {}), sleep(LAST_JOBS_MS, undefined, { ref: false })]);
    this.handSubscriber?.disconnect();
    return this.surplus.splice(0).flatMap(([job]) => job ?? []);
  }

  /** To be called after a reconnect: answers may have been lost, and with them jobs and wake-ups. */
  async tidy(): Promise<void> {
    this.untidy = true;
    await this.moves.add({ kind: 'tidy' });
  }

  /** Jobs of one tenant stand in line behind each other, and the tenants of a class take turns. */
  async addInTurn(tenant: string, id: string, data: string, priority: number, repeatable: boolean): Promise<void> {
    await this.adds.add({ id, name: JOB_NAME, data, priority, tenant, repeatable });
  }

  override async addJob(job: JobJson, jobId: string): Promise<string> {
    return this.adds.add(plainJob(job, jobId));
  }

  override async addJobs(entries: Parameters<IQueueBackend['addJobs']>[0]): Promise<string[]> {
    return Promise.all(entries.map(({ job, jobId }) => this.addJob(job, jobId)));
  }

  override async moveToActive(): Promise<NextJob> {
    // What is on its way here may be for all slots.
    if (this.idle.message !== undefined) await this.idle.message;
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
      'requeueStalled',
      [wait, active, stalled, marker, this.toKey('stalled-check')],
      [this.toKey(''), String(Math.floor(lockOptions(this.lockMs).stalledInterval * 0.8))],
    );
    return Array.isArray(given) ? given.map(String) : [];
  }

  /** Until the marker comes or a job is handed over. In the second case the marker is still waited for, for the next one who waits. */
  override async waitForJob(blockTimeout: number) {
    if (this.surplus.length > 0 || this.askAgain) return this.toAsk();
    const handed = new Promise<null>((resolve) => (this.wake = () => resolve(null)));
    try {
      const marker = await Promise.race([this.nextMarker(blockTimeout), handed]);
      return this.askAgain ? this.toAsk() : marker;
    } finally {
      this.wake = undefined;
    }
  }

  private toAsk(): null {
    if (this.askAgain) this.knownEmpty = false;
    this.askAgain = false;
    return null;
  }

  override async close(force?: boolean): Promise<void> {
    if (!force) await Promise.race([this.adds.idle(), sleep(LAST_ADDS_MS, undefined, { ref: false })]);
    return super.close(force);
  }

  private listening(): void {
    this.listens = true;
    this.wakeToAsk();
  }

  /** For a script that finds nothing leaves a note. */
  private wakeToAsk(): void {
    this.askAgain = !this.stopping;
    this.wake?.();
  }

  private get handChannel(): string {
    return this.toKey(`hand:${this.lockToken}`);
  }

  private receive(message: string): void {
    const handed: unknown = JSON.parse(message);
    if (!Array.isArray(handed)) throw new Error(`direct-dispatch.lua sent ${typeof handed}, expected a list.`);
    const note = Number(handed[0]);
    const [empty, jobs] = parseFetched(handed[1]);
    const known = new Set(jobs.flatMap(([, id]) => (id !== undefined && this.wasAdopted(id, note) ? [id] : [])));
    // Whether that is still so is sure only while the marker has not come.
    if (this.markerWait !== undefined) this.knownEmpty = empty;
    for (const [id, answer] of parseClaims(jobs, handed[2]))
      if (!known.has(id) || this.takeAnswers.has(id)) this.takeAnswers.set(id, answer);
    this.surplus.push(...jobs.filter(([, id]) => id === undefined || !known.has(id)));
    this.idle.wasUsed(note);
    this.wake?.();
  }

  private wasAdopted(id: string, note: number): boolean {
    const upTo = this.adopted.get(id);
    this.adopted.delete(id);
    return upTo !== undefined && note <= upTo;
  }

  /** Of a note that was used. When it does not come, the connection may be dead without a word. Goes on until Redis has told which jobs are ours: so long none is taken. */
  private async awaitMessage(): Promise<void> {
    for (;;) {
      await Promise.race([this.idle.message, sleep(LOST_MESSAGE_MS, undefined, { ref: false })]);
      if (this.idle.message === undefined || this.stopping) return;
      this.handSubscriber?.disconnect(true);
      await this.tidy().catch(() => {});
    }
  }

  private nextMarker(blockTimeout: number): ReturnType<RedisQueueBackend['waitForJob']> {
    if (this.markerWait === undefined) {
      this.markerWait = this.waitForMarker(blockTimeout);
      // Perhaps nobody waits any more when it fails.
      this.markerWait.catch(() => {});
    }
    return this.markerWait;
  }

  private async waitForMarker(blockTimeout: number) {
    try {
      const marker = await super.waitForJob(blockTimeout);
      // Taken for nobody: all slots have been filled meanwhile. Another worker may be waiting for it.
      if (marker !== null && this.wake === undefined) await (await this.client).runCommand('zadd', [this.keys.marker, 0, marker.member]);
      return marker;
    } finally {
      this.markerWait = undefined;
      this.knownEmpty = false;
    }
  }

  private handOut(next: NextJob): NextJob {
    if (next[1] !== undefined) this.inHand.add(next[1]);
    return next;
  }

  private async runAdds(jobs: readonly NewJob[]): Promise<string[]> {
    const { prioritized, marker } = this.keys;
    const args = jobs.flatMap((job) => [job.id, String(job.priority), job.data, job.tenant]);
    const all = [this.toKey(''), jobs[0]?.name ?? '', KEPT_OPTIONS, String(Date.now()), ...args];
    if (this.handOver === undefined || !jobs.every(({ repeatable }) => repeatable))
      await this.script('addJobs', [prioritized, this.toKey('fair'), marker], all);
    else await this.handOver.script.run(this.handOver.on, [...this.movingKeys(), this.handOver.idleKey], all);
    return jobs.map((job) => job.id);
  }

  private async runMoves(moves: readonly Move[]): Promise<NextJob[]> {
    if (this.untidy) await (this.take === undefined ? this.giveBack() : this.adopt(this.take));
    const finished = moves.flatMap((move) => (move.kind === 'finish' ? [move.id] : []));
    const wanting = this.mayFetch() ? moves.filter((move) => wantsJob(move)).length : 0;
    if (finished.length === 0 && wanting === 0) return moves.map(() => []);

    const asked = moves.some((move) => move.kind === 'ask');
    const ahead = asked && this.mayFetch() ? Math.max(0, this.slots - this.inHand.size - 1) : 0;
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

  private mayFetch(): boolean {
    return !this.stopping && this.idle.message === undefined;
  }

  private async finishAndFetch(finished: readonly string[], wanted: number): Promise<NextJob[]> {
    const args = [this.toKey(''), this.lockToken, String(this.lockMs), String(wanted), ...finished];
    if (this.take === undefined) return this.fetched(await this.script('completeAndDequeue', this.movingKeys(), args));

    const { on, script, idleKey } = this.take;
    const free = Math.min(MAX_BATCH, this.slots - (this.inHand.size - finished.length) - this.surplus.length);
    const note = this.idle.next(wanted > 0 && this.listens && !this.stopping ? free : 0);
    const answer = await script.run(on, [...this.movingKeys(), idleKey], [...note.words, ...this.take.args, ...args]);
    if (!Array.isArray(answer)) throw new Error(`dequeue-or-register.lua answered ${typeof answer}, expected a list.`);
    const jobs = this.fetched(answer[0]);
    const { message } = this.idle;
    this.idle.answered(note.number, answer[1]);
    if (this.idle.message !== message) void this.awaitMessage();
    for (const [id, said] of parseClaims(jobs, answer[2])) this.takeAnswers.set(id, said);
    return jobs;
  }

  private movingKeys(): string[] {
    const { wait = '', active = '', prioritized = '', stalled = '', meta = '', marker = '' } = this.keys;
    return [wait, active, prioritized, stalled, meta, marker, this.toKey('fair')];
  }

  private fetched(answer: unknown): NextJob[] {
    const [empty, jobs] = parseFetched(answer);
    this.knownEmpty = empty;
    return jobs;
  }

  /** Jobs under our lock that no answer brought: they have begun, so they are run here. */
  private async adopt({ on, idleKey }: ScriptOnCalls): Promise<void> {
    this.untidy = false;
    // First nothing more is handed over, then what was is looked up.
    await on.hdel(idleKey, this.lockToken);
    const ids = await on.lrange(this.keys.active ?? '', 0, -1);
    const unknown = (id: string) => !this.inHand.has(id) && !this.surplus.some(([, other]) => other === id);
    const strange = ids.filter((id) => unknown(id));
    const locks = await Promise.all(strange.map((id) => on.get(`${this.toKey(id)}:lock`)));
    const ours = strange.filter((_, index) => locks[index] === this.lockToken);
    const found = await Promise.all(ours.map((id) => on.hmget(this.toKey(id), 'data', 'timestamp')));
    for (const [index, id] of ours.entries()) {
      const [data, timestamp] = found[index] ?? [];
      // Its message may have come while we looked.
      if (typeof data !== 'string' || !unknown(id)) continue;
      if (this.handSubscriber) this.adopted.set(id, this.idle.newest);
      this.surplus.push(nextJob(id, data, Number(timestamp), undefined));
      this.takeAnswers.set(id, { kind: 'lost' });
    }
    this.idle.withdrawn();
    this.wakeToAsk();
  }

  private async giveBack(): Promise<void> {
    this.untidy = false;
    this.surplus = [];
    const { wait, active, prioritized, stalled, marker } = this.keys;
    await this.script('requeueOwned', [wait, active, prioritized, stalled, marker], [this.toKey(''), this.lockToken, ...this.inHand]);
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
  return { id, name: job.name, data: job.data, priority, tenant: '', repeatable: false };
}
