import { WebSocket } from 'ws';
import { eventually } from '../support/eventually.js';

const MIB = 1_048_576;
/** Indices of fields of a node in a heap snapshot (V8's format, `snapshot.meta.node_fields`): type, name, id, self_size, ... */
const [NAME, SELF_SIZE] = [1, 3];

/** Sample in MiB. */
export interface HeapSample {
  readonly heap: number;
  readonly external: number;
  readonly resident: number;
}

interface Answer {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly chunk?: string };
  readonly result?: { readonly result?: { readonly value?: unknown }; readonly profile?: object };
}

/** The heap of a Node process that runs with `--inspect=127.0.0.1:<port>`, by the Chrome DevTools Protocol. */
export class InspectedHeap {
  private last = 0;
  private chunks: string[] = [];
  private readonly waiting = new Map<number, (answer: Answer) => void>();

  private constructor(private readonly socket: WebSocket) {
    socket.on('message', (data: Buffer) => this.receive(JSON.parse(data.toString()) as Answer));
  }

  static async of(port: number): Promise<InspectedHeap> {
    const url = await eventually(async () => {
      const answer = await fetch(`http://127.0.0.1:${port}/json/list`).catch(() => undefined);
      const [target] = answer === undefined ? [] : ((await answer.json()) as { webSocketDebuggerUrl: string }[]);
      return target?.webSocketDebuggerUrl;
    }, `an inspector on port ${port}`);
    const socket = new WebSocket(url, { perMessageDeflate: false, maxPayload: 0 });
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    return new InspectedHeap(socket);
  }

  /** Sample after a full garbage collection. */
  async sample(): Promise<HeapSample> {
    await this.send('HeapProfiler.collectGarbage');
    const memory = await this.evaluate('process.memoryUsage()');
    const { heapUsed = 0, external = 0, rss = 0 } = (memory ?? {}) as Partial<NodeJS.MemoryUsage>;
    return { heap: heapUsed / MIB, external: external / MIB, resident: rss / MIB };
  }

  /** Value of an expression in the process. */
  async evaluate(expression: string): Promise<unknown> {
    return (await this.send('Runtime.evaluate', { expression, returnByValue: true })).result?.result?.value;
  }

  /** Bytes that objects of each constructor hold by themselves, and how many there are. */
  async byConstructor(): Promise<Map<string, { count: number; bytes: number }>> {
    this.chunks = [];
    await this.send('HeapProfiler.takeHeapSnapshot', { reportProgress: false });
    const { snapshot, nodes, strings } = JSON.parse(this.chunks.join('')) as {
      snapshot: { meta: { node_fields: string[]; node_types: [string[]] } };
      nodes: number[];
      strings: string[];
    };
    this.chunks = [];
    const width = snapshot.meta.node_fields.length;
    const [types] = snapshot.meta.node_types;
    const found = new Map<string, { count: number; bytes: number }>();
    for (let at = 0; at < nodes.length; at += width) {
      const type = types[nodes[at] ?? 0] ?? '';
      const name = type === 'object' || type === 'closure' ? `${type} ${strings[nodes[at + NAME] ?? 0]}` : `(${type})`;
      const sum = found.get(name) ?? { count: 0, bytes: 0 };
      found.set(name, { count: sum.count + 1, bytes: sum.bytes + (nodes[at + SELF_SIZE] ?? 0) });
    }
    return found;
  }

  /** Begins a CPU profile. The returned function ends it and gives it as the JSON that the developer tools of browsers read. */
  async profile(): Promise<() => Promise<string>> {
    await this.send('Profiler.enable');
    await this.send('Profiler.start');
    return async () => JSON.stringify((await this.send('Profiler.stop')).result?.profile);
  }

  close(): void {
    this.socket.terminate();
  }

  private send(method: string, params: object = {}): Promise<Answer> {
    const id = ++this.last;
    return new Promise((resolve) => {
      this.waiting.set(id, resolve);
      this.socket.send(JSON.stringify({ id, method, params }));
    });
  }

  private receive({ id, method, params, ...answer }: Answer): void {
    if (method === 'HeapProfiler.addHeapSnapshotChunk') this.chunks.push(params?.chunk ?? '');
    if (id === undefined) return;
    this.waiting.get(id)?.(answer);
    this.waiting.delete(id);
  }
}
