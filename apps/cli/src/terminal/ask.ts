import { closeSync, constants, openSync, readSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { SigintHandler } from '../sigint-handler.js';

/** Whether a person sits at standard input. */
export function hasPerson(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/**
 * One line of a person; undefined after Ctrl-C, Ctrl-D or an abort of `signal`. The terminal edits the line, so that Ctrl-C stays
 * a signal of this program.
 */
export function ask(question: string, interrupts: SigintHandler, signal?: AbortSignal): Promise<string | undefined> {
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: false });
  const stop = AbortSignal.any([interrupts.signal, ...(signal === undefined ? [] : [signal])]);
  return new Promise((resolve) => {
    let settled = false;
    const settle = (answer: string | undefined) => {
      settled = true;
      stop.removeEventListener('abort', aborted);
      // Before the close, which settles too: the first answer counts.
      resolve(answer);
      lines.close();
    };
    const aborted = () => {
      // The question has no line end yet.
      if (!settled) process.stderr.write('\n');
      settle(undefined);
    };
    stop.addEventListener('abort', aborted);
    lines.once('close', aborted);
    // After Ctrl-D, an interface made later hears of no end.
    if (stop.aborted || process.stdin.readableEnded) settle(undefined);
    else lines.question(question, (answer) => settle(answer.trim()));
  });
}

/**
 * Drops the lines that were typed before a question was to be seen: they cannot be its answer. Where the terminal cannot be
 * read apart from standard input (Windows), they stay.
 */
export function forgetTypedAhead(): void {
  while (process.stdin.read() !== null);
  let terminal: number;
  try {
    terminal = openSync('/dev/tty', constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return;
  }
  try {
    // One line a read. Throws EAGAIN when none is left.
    while (readSync(terminal, Buffer.alloc(4096)) > 0);
  } catch {
    // Nothing is left.
  } finally {
    closeSync(terminal);
  }
}
