import { createInterface } from 'node:readline/promises';
import type { BulkResult } from '#contracts';
import type { CommandContext } from '../../command-context.js';
import { EXIT } from '../../exit-code.js';
import { table } from '../../terminal/table.js';
import { UsageError } from '../../usage-error.js';
import { filterOf, type FilterFlags } from '../call-filter.js';

export interface BulkFlags extends FilterFlags {
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  /** Reason of an erasure. */
  readonly reason?: string;
}

const DONE = { cancel: 'asked to stop', replay: 'submitted again', erase: 'marked to be erased, which cannot be undone' } as const;
const COMMAND = { cancel: 'cancel-all', replay: 'replay-all', erase: 'erase' } as const;

/**
 * Cancels, replays or erases all calls that match the filters.
 *
 * 1. count them; a dry run ends here, and so does a count of 0
 * 2. ask for confirmation, unless --yes is given
 * 3. send requests until the response has no cursor
 */
export async function bulk(context: CommandContext, what: keyof typeof DONE, flags: BulkFlags): Promise<number> {
  const { client, terminal, json } = context;
  const filter = Object.fromEntries(Object.entries(filterOf(flags, Date.now())).filter(([, value]) => value !== undefined));
  if (Object.keys(filter).length === 0)
    throw new UsageError(
      `Expected at least one filter, such as --session or --tool: without one, ${COMMAND[what]} would affect every call`,
    );
  const ask = (body: { dryRun?: boolean; cursor?: string }): Promise<BulkResult> =>
    what === 'cancel'
      ? client.calls.cancelMany({ filter, ...body })
      : what === 'replay'
        ? client.calls.replayMany({ filter, ...body })
        : client.calls.eraseMany({ filter, ...body, ...(flags.reason === undefined ? {} : { reason: flags.reason }) });

  const { matched, exact } = await ask({ dryRun: true });
  const count = `${exact ? '' : 'at least '}${matched} ${matched === 1 ? 'call' : 'calls'}`;
  if (flags.dryRun || matched === 0) {
    if (json) terminal.json({ matched, exact, done: 0, failed: [] });
    else terminal.note(matched === 0 ? 'No calls match.' : `${count} would be ${DONE[what]}.`);
    return EXIT.completed;
  }
  if (flags.yes !== true && !(await confirm(context, `${count} will be ${DONE[what]}. Continue? [y/N] `))) {
    terminal.note('Nothing was changed.');
    return EXIT.interrupted;
  }

  const failed: BulkResult['failed'] = [];
  let done = 0;
  for (let cursor: string | undefined; ;) {
    const part: BulkResult = await ask(cursor === undefined ? {} : { cursor });
    done += part.done;
    failed.push(...part.failed);
    cursor = part.cursor;
    if (cursor === undefined || context.interrupts.happened) break;
    terminal.showStatus(`${done} of ${count}`);
  }
  if (json) terminal.json({ matched, exact, done, failed });
  else {
    terminal.note(`${done} of ${count} ${done === 1 ? 'was' : 'were'} ${DONE[what]}${failed.length > 0 ? `, ${failed.length} not:` : '.'}`);
    const rows = failed.map(({ callId, problem }) => [callId, problem.detail]);
    for (const line of table(rows, terminal.width)) terminal.note(line);
  }
  return failed.length > 0 ? EXIT.failed : EXIT.completed;
}

/** Confirmation by a person. Requires --yes without a terminal. Ctrl-C and the end of the input mean no. */
async function confirm({ interrupts }: CommandContext, question: string): Promise<boolean> {
  if (!process.stdin.isTTY)
    throw new UsageError('There is no terminal for a confirmation: add --yes to continue, or --dry-run to count only');
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const no = new Promise<string>((resolve) => lines.once('close', () => resolve('no')));
  try {
    const answer = await Promise.race([lines.question(question, { signal: interrupts.signal }).catch(() => 'no'), no]);
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    lines.close();
  }
}
