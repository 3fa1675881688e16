import { Problem, WorkerPollPage, WorkerServerFrame, WorkerWelcome, WORKER_LIMITS, type WorkerFrame, type WorkerHello } from '#contracts';
import { z } from 'zod';
import { sleep } from '../http/deadline.js';
import { refusalOf, WorkerRefused, type OpenWorkerLink, type WorkerLink, type WorkerLinkEvents } from './worker-link.port.js';

const AGAIN_MS = 500;
const REQUEST_MS = 10_000;
/** Most bytes of the frames of one request; a single larger one is sent alone. */
const REQUEST_BYTES = 900_000;

/** Page of frames, in which unknown ones of a newer gateway are skipped. */
const Page = WorkerPollPage.extend({ frames: z.array(z.unknown()) });

/** Error for a connection that the gateway no longer knows. */
class Gone extends Error {}

/** Link over HTTP: polls receive the frames of the gateway, messages carry those of the worker. */
export function openPollLink(baseUrl: string, apiKey: string, fetch: typeof globalThis.fetch): OpenWorkerLink {
  return async (hello, events, signal) => {
    const post = async (path: string, body: object, limitMs: number, cut?: AbortSignal): Promise<unknown> => {
      const limit = AbortSignal.timeout(limitMs);
      const response = await fetch(`${baseUrl}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
        signal: cut === undefined ? limit : AbortSignal.any([limit, cut]),
        redirect: 'error',
      });
      const text = await response.text();
      if (response.ok) return text === '' ? undefined : JSON.parse(text);
      if (response.status === 404 && path !== '/v1/workers') throw new Gone('this connection is over');
      const problem = Problem.safeParse(response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : undefined);
      if (problem.success) throw refusalOf(problem.data);
      throw new Error(`status ${response.status}`);
    };
    const welcome = WorkerWelcome.parse(await post('/v1/workers', hello satisfies WorkerHello, REQUEST_MS, signal));
    return new PollLink(welcome, post, events);
  };
}

class PollLink implements WorkerLink {
  private readonly path: string;
  private readonly over = new AbortController();
  private outgoing: WorkerFrame[] = [];
  private sending: Promise<void> | undefined;

  constructor(
    readonly welcome: WorkerWelcome,
    private readonly post: (path: string, body: object, limitMs: number, cut?: AbortSignal) => Promise<unknown>,
    private readonly events: WorkerLinkEvents,
  ) {
    this.path = `/v1/workers/${encodeURIComponent(welcome.workerId)}`;
    void this.pollForever();
  }

  send(frame: WorkerFrame): void {
    this.outgoing.push(frame);
    this.sending ??= this.sendAll().finally(() => (this.sending = undefined));
  }

  async flush(): Promise<void> {
    await this.sending;
  }

  close(): void {
    this.closeBecause('closed');
  }

  private closeBecause(why: string): void {
    if (this.over.signal.aborted) return;
    this.over.abort();
    this.events.closed(why);
  }

  private async sendAll(): Promise<void> {
    // Sends the frames of one turn of the event loop together.
    await Promise.resolve();
    while (this.outgoing.length > 0 && !this.over.signal.aborted) {
      const frames = this.nextFrames();
      await this.repeated((cut) => this.post(`${this.path}/messages`, { frames }, REQUEST_MS, cut), frames);
    }
  }

  private nextFrames(): WorkerFrame[] {
    let bytes = 0;
    const end = this.outgoing.findIndex((frame, n) => (bytes += JSON.stringify(frame).length * 3) > REQUEST_BYTES && n > 0);
    return this.outgoing.splice(0, Math.min(end === -1 ? this.outgoing.length : end, WORKER_LIMITS.frames));
  }

  private async pollForever(): Promise<void> {
    let after = 0;
    while (!this.over.signal.aborted) {
      const answer = await this.repeated((cut) =>
        this.post(`${this.path}/poll?wait=${WORKER_LIMITS.waitSeconds}`, { after }, WORKER_LIMITS.waitSeconds * 1_000 + REQUEST_MS, cut),
      );
      if (answer === undefined) continue;
      const page = Page.parse(answer.value);
      after = page.seq;
      for (const it of page.frames) {
        const frame = WorkerServerFrame.safeParse(it).data;
        if (frame !== undefined) this.events.frame(frame);
      }
    }
  }

  /** Repeats a request until it is answered. Reports a rejection to the worker; undefined then, and after the end. */
  private async repeated(
    request: (cut: AbortSignal) => Promise<unknown>,
    frames: readonly WorkerFrame[] = [],
  ): Promise<{ readonly value: unknown } | undefined> {
    while (!this.over.signal.aborted) {
      try {
        return { value: await request(this.over.signal) };
      } catch (error) {
        if (this.over.signal.aborted) return undefined;
        if (error instanceof Gone) {
          this.closeBecause(error.message);
          return undefined;
        }
        if (error instanceof WorkerRefused && error.problem !== undefined) {
          this.refused(error.problem, frames);
          return undefined;
        }
        await sleep(AGAIN_MS * Math.random(), undefined);
      }
    }
    return undefined;
  }

  private refused(problem: Problem, frames: readonly WorkerFrame[]): void {
    if (problem.code === 'unauthenticated' || problem.code === 'forbidden') this.closeBecause(problem.title);
    for (const frame of frames) {
      const about = 'callId' in frame ? { callId: frame.callId } : {};
      this.events.frame({ op: 'refused', problem, ...about });
    }
  }
}
