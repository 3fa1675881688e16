import type { Readable, Writable } from 'node:stream';
import { openControlGroup } from './control-groups.js';
import { processTreeKiller } from './process-tree-killer.js';
import { killAll, pause, resume, terminate } from './process-tree.js';
import { start, type ProcessCommand } from './run-process.js';

/** A program that serves for a while, such as a server that speaks over its standard input and output. */
export interface RunningProcess {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves when the program has ended by itself or was killed for its limits; how, in words. Never rejects. */
  readonly ended: Promise<string>;
  /** CPU time in milliseconds used by the program and its descendants since the last call; undefined without a control group. */
  takeCpuMs(): number | undefined;
  /** Sends SIGINT to the whole tree, which interrupts the current work of a program. */
  interrupt(): void;
  /** Suspends the whole tree: nothing in it computes until `resume`. A tree that grows faster than it is suspended is killed. */
  pause(): Promise<void>;
  resume(): void;
  /** SIGTERM to the whole tree, after the grace SIGKILL. No process is left when it resolves. Idempotent. */
  stop(): Promise<void>;
}

/** Starts a program in a process tree of its own. Rejects with a ProcessStartError when it cannot start. */
export async function startProcess(command: Omit<ProcessCommand, 'input'>, graceMs: number): Promise<RunningProcess> {
  const group = command.limits && openControlGroup(command.limits);
  const stopping = new AbortController();
  try {
    const { child, tree, exited } = await start(command, group, 'pipe');
    const { stdin, stdout, stderr } = child;
    if (stdin === null || stdout === null || stderr === null) throw new Error('the pipes of the program are missing');
    for (const pipe of [stdin, stdout, stderr]) pipe.on('error', () => undefined);
    let [taken, atEnd]: [number, number | undefined] = [0, undefined];
    const killer = processTreeKiller(tree, { signal: stopping.signal, graceMs }, command.limits, group);
    const ended = Promise.race([exited, killer.unkillable]).then(async (exit) => {
      const status = await killer.stop(exit);
      await killAll(tree);
      for (const pipe of [stdin, stdout, stderr]) pipe.destroy();
      atEnd = group?.cpuMs();
      await group?.close();
      if (status?.how === 'over_limit') return 'it used more than its limits allow';
      return exit.signal === null ? `it ended with exit code ${exit.code ?? -1}` : `it was ended by ${exit.signal}`;
    });
    const stop = async () => {
      stopping.abort();
      await ended;
    };
    return {
      stdin,
      stdout,
      stderr,
      ended,
      takeCpuMs: () => {
        const used = atEnd ?? group?.cpuMs();
        if (used === undefined) return undefined;
        const more = used - taken;
        taken = used;
        return more;
      },
      interrupt: () => terminate(tree, 'SIGINT'),
      pause: async () => void ((await pause(tree)) || (await stop())),
      resume: () => resume(tree),
      stop,
    };
  } catch (error) {
    void group?.close();
    throw error;
  }
}
