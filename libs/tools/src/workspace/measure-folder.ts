import { Worker } from 'node:worker_threads';

/** What a folder takes: bytes of the disk, and entries of all kinds below it. */
export interface Usage {
  readonly bytes: number;
  readonly files: number;
}

/**
 * What runs in the thread; given as text, so that it is the same in compiled and in tested code. Links are not followed, a file
 * with several names counts once, and what cannot be read is left out.
 */
const THREAD = `
const { parentPort } = require('node:worker_threads');
const { lstatSync, readdirSync } = require('node:fs');
const measure = (root) => {
  let bytes = 0, files = 0;
  const linked = new Set();
  const folders = [root];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    let entries = [];
    try { entries = readdirSync(folder, { withFileTypes: true }); } catch {}
    for (const entry of entries) {
      const path = folder + '/' + entry.name;
      files += 1;
      try {
        const { blocks, nlink, dev, ino } = lstatSync(path);
        if (entry.isDirectory()) folders.push(path);
        else if (nlink > 1) {
          const key = dev + ':' + ino;
          if (linked.has(key)) continue;
          linked.add(key);
        }
        bytes += blocks * 512;
      } catch {}
    }
  }
  return { bytes, files };
};
parentPort.on('message', ({ id, root }) => parentPort.postMessage({ id, usage: measure(root) }));`;

/** Looks through folders, one after another, in a thread of its own: some ten microseconds an entry that leases and sockets do not wait for. */
export class FolderMeasurer {
  private thread: Worker | undefined;
  private last = 0;
  private readonly asked = new Map<number, { readonly resolve: (usage: Usage) => void; readonly reject: (error: Error) => void }>();

  /** Rejects when the thread ends before it answers. */
  measure(root: string): Promise<Usage> {
    this.thread ??= this.newThread();
    const id = (this.last += 1);
    const measured = new Promise<Usage>((resolve, reject) => this.asked.set(id, { resolve, reject }));
    this.thread.postMessage({ id, root });
    return measured;
  }

  private newThread(): Worker {
    const made = new Worker(THREAD, { eval: true, env: {}, execArgv: [], resourceLimits: { maxOldGenerationSizeMb: 256 } });
    // It must not keep the process alive: nobody needs its answers then.
    made.unref();
    made.on('message', ({ id, usage }: { id: number; usage: Usage }) => {
      this.asked.get(id)?.resolve(usage);
      this.asked.delete(id);
    });
    made.on('error', () => undefined);
    made.on('exit', () => {
      if (this.thread === made) this.thread = undefined;
      for (const { reject } of this.asked.values()) reject(new Error('the thread that measures folders ended'));
      this.asked.clear();
    });
    return made;
  }
}
