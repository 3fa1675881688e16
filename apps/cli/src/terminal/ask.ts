import { closeSync, constants, openSync, readSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { SigintHandler } from '../sigint-handler.js';

/** True if a person uses standard input. */
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
      // Resolved before the close, which settles too: the first answer counts.
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
    // Ctrl-D before: an interface created later gets no end event.
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
    // Reads a line each time. Throws EAGAIN when no input is left.
    while (readSync(terminal, Buffer.alloc(4096)) > 0);
  } catch {
    // No input is left.
  } finally {
    closeSync(terminal);
  }
}
