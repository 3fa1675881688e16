import { WebSocket } from 'ws';
import {
  WORKER_PROTOCOL,
  WORKER_SUBPROTOCOL,
  type Pool,
  type WorkerFrame,
  type WorkerServerFrame,
  type WorkerServerFrameOf,
  type WorkerTool,
} from '#contracts';
import { eventually } from './eventually.js';

export const ADD: WorkerTool = {
  name: 'add',
  description: 'Adds two numbers.',
  input: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
};

/** A worker that does only what a test says, over a real WebSocket. */
export class ScriptedWorker {
  readonly frames: WorkerServerFrame[] = [];
  private wseq = 0;
  closed: { readonly code: number; readonly reason: string } | undefined;

  private constructor(readonly socket: WebSocket) {
    socket.on('message', (data: Buffer) => {
      const frame = JSON.parse(data.toString('utf8')) as WorkerServerFrame;
      this.frames.push(frame);
      if (frame.op === 'ping') this.send({ op: 'pong' });
    });
    socket.on('close', (code, reason) => (this.closed = { code, reason: reason.toString() }));
  }

  static async open(url: string, key: string, protocol: string = WORKER_SUBPROTOCOL): Promise<ScriptedWorker> {
    const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/v1/worker`, protocol, { headers: { authorization: `Bearer ${key}` } });
    const worker = new ScriptedWorker(socket);
    await new Promise((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('error', reject);
    });
    return worker;
  }

  /** Connects, announces the tools and gives credit. */
  static async ready(url: string, key: string, worker: string, tools: WorkerTool[] = [ADD], credit = 1): Promise<ScriptedWorker> {
    const opened = await ScriptedWorker.open(url, key);
    opened.hello(worker, tools);
    await opened.next('welcome');
    if (credit > 0) opened.credit(credit);
    return opened;
  }

  hello(worker: string, tools: WorkerTool[]): void {
    this.send({ op: 'hello', protocol: WORKER_PROTOCOL, worker, sdk: 'test/1', tools });
  }

  credit(n: number, pool: Pool = 'net'): void {
    this.send({ op: 'credit', pool, n });
  }

  send(frame: WorkerFrame | object): void {
    this.socket.send(JSON.stringify(frame));
  }

  raw(text: string): void {
    this.socket.send(text);
  }

  finish({ callId, fence }: { callId: string; fence: number }, text: string): void {
    this.send({ op: 'finish', callId, fence, wseq: ++this.wseq, outcome: 'completed', content: [{ type: 'text', text }] });
  }

  /** The next frame of this kind that no earlier `next` returned. Rejects when the connection was closed without one. */
  async next<Op extends WorkerServerFrame['op']>(op: Op): Promise<WorkerServerFrameOf<Op>> {
    const missing = () => `a frame ${op}; got ${JSON.stringify(this.frames).slice(0, 500)}`;
    return eventually(async () => {
      const index = this.frames.findIndex((frame) => frame.op === op);
      if (index !== -1) return this.frames.splice(index, 1)[0] as WorkerServerFrameOf<Op>;
      if (this.closed !== undefined) throw new Error(`closed with ${JSON.stringify(this.closed)} before ${missing()}`);
      return undefined;
    }, missing);
  }

  close(): void {
    this.socket.terminate();
  }
}
