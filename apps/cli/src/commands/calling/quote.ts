import { plainReason } from '#subject';
import type { CommandContext } from '../../command-context.js';
import { EXIT } from '../../exit-code.js';
import { oneLine } from '../../terminal/safe-text.js';
import { submissionOf, type SubmitFlags } from './call.js';

/** Dry run of a call. Exits with 0 when it would run or ask, 3 when it would be denied, 2 when its arguments are wrong. */
export async function quote(context: CommandContext, tool: string, words: readonly string[], flags: SubmitFlags): Promise<number> {
  const { client, terminal, json } = context;
  const verdict = await client.calls.quote(await submissionOf(context, tool, words, flags));
  const { valid, errors, risk, decision, approvalNeeded, queueDepth, expectedStartMs } = verdict;
  const denied = decision?.effect === 'deny';
  const code = denied ? EXIT.denied : valid ? EXIT.completed : EXIT.usage;
  if (json) {
    terminal.json(verdict);
    return code;
  }
  const say = (word: string, style: 'green' | 'red' | 'yellow', rest: string) => terminal.line(`${terminal.colour(style, word)} ${rest}`);
  if (!valid) say('invalid', 'red', errors.map(({ pointer, message }) => oneLine(`${pointer || 'arguments'}: ${message}`, 400)).join('; '));
  else if (denied) say('denied', 'red', 'by policy');
  else if (approvalNeeded) say('asks', 'yellow', 'a person before it runs');
  else say('runs', 'green', `${startText(expectedStartMs)}${queueDepth === undefined ? '' : `; ${queueDepth} calls wait in its pool`}`);
  if (risk !== undefined) terminal.line(`  risk  ${risk}`);
  for (const { effect, axis, rule, reason, satisfiedBy } of decision?.reasons ?? [])
    terminal.line(
      `  ${effect.padEnd(5)} ${axis}/${oneLine(rule, 40)}: ${oneLine(plainReason(reason), 200)}${satisfiedBy === undefined ? '' : ` (settled by ${oneLine(satisfiedBy, 80)})`}`,
    );
  return code;
}

function startText(expectedStartMs: number | undefined): string {
  if (expectedStartMs === undefined) return 'as soon as a worker serves its pool';
  return expectedStartMs === 0 ? 'at once' : `in about ${Math.ceil(expectedStartMs / 1000)} s`;
}
