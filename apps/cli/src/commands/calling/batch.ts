import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { BatchCallBody, BatchStrategy, validationFaults, parseExactJson, type Batch, type BatchResult } from '#contracts';
import type { CommandContext } from '../../command-context.js';
import { EXIT, exitCodeOf } from '../../exit-code.js';
import { callSubjects } from '../../terminal/call-subjects.js';
import { contentText } from '../../terminal/result-text.js';
import { oneLine } from '../../terminal/safe-text.js';
import { shownIds } from '../../terminal/shown-ids.js';
import { Spinner } from '../../terminal/spinner.js';
import { UsageError } from '../../usage-error.js';

export interface BatchFlags {
  readonly session?: string;
  readonly agent?: string;
  readonly strategy?: (typeof STRATEGIES)[number];
  readonly onFailure?: Batch['onFailure'];
  readonly idempotencyKey?: string;
  /** `--no-wait` */
  readonly wait: boolean;
}

/** Strategies without mandatory settings. */
export const STRATEGIES = ['tiered', 'parallel', 'sequential'] as const;

type BatchCall = z.input<typeof BatchCallBody>;

/** Submits the calls of a file, one JSON object a line, as one batch. Exits with the outcome of the first call that failed. */
export async function batch(context: CommandContext, file: string, flags: BatchFlags): Promise<number> {
  const { client, terminal, json, interrupts } = context;
  const { session, agent, strategy, onFailure, idempotencyKey, wait } = flags;
  const calls = readCalls(file === '-' ? readFileSync(0, 'utf8') : readText(file));
  const { id } = await client.batches.submit(
    {
      calls,
      sessionId: session,
      agentId: agent,
      ...(strategy === undefined ? {} : { strategy: BatchStrategy.parse({ type: strategy }) }),
      ...(onFailure === undefined ? {} : { onFailure }),
    },
    { idempotencyKey },
  );
  if (!wait) {
    if (json) terminal.json(await client.batches.get(id));
    else terminal.line(id);
    return EXIT.completed;
  }
  interrupts.handle(
    () => {
      terminal.note(`Cancelling the batch ${id} … (press Ctrl-C again to exit)`);
      client.batches
        .cancel(id, { reason: 'Ctrl-C' })
        .catch((error: unknown) => terminal.note(`It could not be cancelled: ${String(error)}`));
    },
    () => terminal.note(`Stopped waiting. Its calls may go on: toolyard batch cancel ${id}`),
  );
  const spinner = new Spinner(terminal, () => `${calls.length} calls`);
  const ended = await client.batches.wait(id).finally(() => spinner.stop());
  if (json) for (const result of ended.results) terminal.json(result);
  else await print(context, ended, calls);
  return ended.results.map(codeOf).find((code) => code !== EXIT.completed) ?? EXIT.completed;
}

/** Stopped calls without an outcome count as cancelled. */
function codeOf({ outcome, result }: BatchResult): number {
  return outcome === undefined ? EXIT.cancelled : exitCodeOf({ outcome, isError: result?.isError });
}

async function print(context: CommandContext, { results, stopped }: Batch, calls: readonly BatchCall[]): Promise<void> {
  const { terminal } = context;
  const subjects = await callSubjects(context);
  for (const result of results) {
    const { index, callId, outcome, error, tool } = result;
    const failed = codeOf(result) !== EXIT.completed;
    const state = failed && outcome === 'completed' ? 'error' : (outcome ?? 'not submitted');
    const subject = oneLine(subjects.line(tool, JSON.stringify(calls[index]?.arguments ?? {})), terminal.width - 40);
    const id = callId === undefined ? '-' : shownIds(terminal)(callId);
    terminal.line(`${id} ${terminal.colour(failed ? 'red' : 'green', state)} ${tool} ${subject}`);
    const text = result.result === undefined ? (error?.message ?? '') : contentText(result.result.content);
    if (text !== '') terminal.data(text.endsWith('\n') ? text : `${text}\n`);
  }
  if (stopped !== undefined) terminal.note(`Stopped: ${stopped.detail}`);
}

/** @throws UsageError that names the line */
function readCalls(text: string): BatchCall[] {
  const lines = text.split('\n').map((line, index) => ({ line: line.trim(), number: index + 1 }));
  const calls = lines.filter(({ line }) => line !== '').map(({ line, number }) => callOf(line, number));
  if (calls.length === 0)
    throw new UsageError('Expected calls, one JSON object a line, such as {"tool":"shell","arguments":{"command":"ls"}}');
  return calls;
}

function callOf(line: string, number: number): BatchCall {
  try {
    const given = parseExactJson(line);
    BatchCallBody.parse(given);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- parsed; defaults are left to the gateway
    return given as BatchCall;
  } catch (error) {
    const why =
      error instanceof z.ZodError ? validationFaults(error, 'call').join('; ') : error instanceof Error ? error.message : String(error);
    throw new UsageError(`Line ${number} is not a call: ${why}`);
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}
