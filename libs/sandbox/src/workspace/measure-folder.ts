import { Worker } from 'node:worker_threads';

/** Usage of a folder: bytes of the disk, and entries of all kinds below it. */
export interface Usage {
  readonly bytes: number;
  readonly files: number;
}

/**
 * Source of the thread; given as text, so that compiled and tested code use the same. Does not follow links, counts a file with
 * several names once, and skips unreadable entries. Stops in a folder with more files than `most`: the exact number is
 * irrelevant, and the names of millions do not fit into the thread. The system accepts paths of 4,096 bytes, and commands
 * create longer ones: from there on files are reached through open folders, and a folder beyond 20 of them counts as one with
 * too many files.
 */
const THREAD = `
const { parentPort } = require('node:worker_threads');
const { closeSync, constants, lstatSync, opendirSync, openSync } = require('node:fs');
const LONG = 3000, HOPS = 20;
const measure = (root, most) => {
  let bytes = 0, files = 0;
  const linked = new Set();
  const walk = (base, hops) => {
    const folders = [base];
    const add = (path, isFolder) => {
      files += 1;
      try {
        const { blocks, nlink, dev, ino } = lstatSync(path);
        if (isFolder) folders.push(path);
        else if (nlink > 1) {
          const key = dev + ':' + ino;
          if (linked.has(key)) return;
          linked.add(key);
        }
        bytes += blocks * 512;
      } catch {}
    };
    const hop = (folder) => {
      if (hops === HOPS || process.platform !== 'linux') return void (files = most + 1);
      let fd;
      try {
        fd = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
        walk('/proc/self/fd/' + fd, hops + 1);
      } catch {}
      if (fd !== undefined) closeSync(fd);
    };
    for (let folder = folders.pop(); folder !== undefined && files <= most; folder = folders.pop()) {
      if (folder.length > LONG) { hop(folder); continue; }
      let open;
      try {
        open = opendirSync(folder, { bufferSize: 256 });
        for (let entry = open.readSync(); entry !== null && files <= most; entry = open.readSync())
          add(folder + '/' + entry.name, entry.isDirectory());
      } catch {}
      try { open?.closeSync(); } catch {}
    }
  };
  walk(root, 0);
  return { bytes, files };
};
parentPort.on('message', ({ id, root, most }) => parentPort.postMessage({ id, usage: measure(root, most) }));`;

interface MeasureRequest {
  readonly root: string;
  readonly most: number;
  readonly resolve: (usage: Usage) => void;
  readonly reject: (error: Error) => void;
  /** The thread ended once before it answered. */
  readonly again?: boolean;
}

/**
 * Looks through folders, one after another, in a thread of its own: some ten microseconds an entry that leases and sockets do
 * not wait for.
 */
export class FolderMeasurer {
  private thread: Worker | undefined;
  private last = 0;
  private readonly pending = new Map<number, MeasureRequest>();

  /**
   * The figures are exact for a folder with at most `most` files; for another one `files` is larger than `most`. Rejects when
   * the thread ends at this folder, or twice before it comes to it.
   */
  measure(root: string, most = Infinity): Promise<Usage> {
    return new Promise<Usage>((resolve, reject) => this.send({ root, most, resolve, reject }));
  }

  /** Ends the thread; the next question starts another one. */
  async endThread(): Promise<void> {
    await this.thread?.terminate();
  }

  private send(question: MeasureRequest): void {
    this.thread ??= this.newThread();
    const id = (this.last += 1);
    this.pending.set(id, question);
    this.thread.postMessage({ id, root: question.root, most: question.most });
  }

  private newThread(): Worker {
    const made = new Worker(THREAD, { eval: true, env: {}, execArgv: [], resourceLimits: { maxOldGenerationSizeMb: 256 } });
    // Unreferenced, so that the thread does not keep the process alive.
    made.unref();
    made.on('message', ({ id, usage }: { id: number; usage: Usage }) => {
      this.pending.get(id)?.resolve(usage);
      this.pending.delete(id);
    });
    made.on('error', () => undefined);
    made.on('exit', () => {
      if (this.thread === made) this.thread = undefined;
      // The thread answers in order: the first remaining request ended it.
      const [first, ...others] = this.pending.values();
      this.pending.clear();
      first?.reject(new Error('the thread that measures folders ended'));
      for (const question of others)
        if (question.again) question.reject(new Error('the thread that measures folders ended twice'));
        else this.send({ ...question, again: true });
    });
    return made;
  }
}
