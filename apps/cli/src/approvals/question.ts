import type { Call } from '#contracts';
import { MOST_REASONS, plainReasons } from '#subject';
import type { CommandContext } from '../command-context.js';
import { argumentLines } from '../terminal/argument-lines.js';
import type { CallSubjects } from '../terminal/call-subjects.js';
import { oneLine } from '../terminal/safe-text.js';
import { shownIds } from '../terminal/shown-ids.js';
import { duration } from '../terminal/time-text.js';
import { visible } from '../terminal/visible-text.js';
import { wrapLine } from '../terminal/wrap-line.js';

const REASON_CHARS = 1000;

/** Approval request for a call as lines: requester, everything that would run, and the reason. */
export function questionLines(call: Call, subjects: CallSubjects, { terminal }: Pick<CommandContext, 'terminal'>): string[] {
  const { id, tool, risk, agentId, sessionId, approval, purpose } = call;
  const left = approval && `${duration(Math.max(0, Date.parse(approval.expiresAt) - Date.now()))} left`;
  const about = [risk && `${risk} risk`, sessionId && `session ${sessionId}`, agentId && `agent ${agentId}`, left, shownIds(terminal)(id)];
  const [first = '', ...more] = wrapLine([tool, ...about.filter((part) => part !== undefined)].join(' · '), terminal.width);
  const reasons = plainReasons(call);
  const hidden = Math.max(0, reasons.length - MOST_REASONS);
  const { args, defaults } = subjects.chosen(tool, call.arguments);
  return [
    terminal.colour('bold', first.slice(0, tool.length)) + terminal.colour('dim', first.slice(tool.length)),
    ...more.map((line) => terminal.colour('dim', line)),
    ...argumentLines(args, subjects.of(tool), terminal, true).map((line) => `    ${line}`),
    ...(defaults.length === 0 ? [] : wrapLine(`    by default: ${shown(defaults.join(', '))}`, terminal.width)).map((line) =>
      terminal.colour('dim', line),
    ),
    ...(purpose === undefined ? [] : wrapLine(`  The agent says: ${shown(purpose)}`, terminal.width)),
    ...reasons.slice(0, MOST_REASONS).flatMap((reason) => wrapLine(`  Why: ${shown(reason)}`, terminal.width)),
    ...(hidden === 0
      ? []
      : [
          terminal.colour(
            'dim',
            `       and ${hidden} more ${hidden === 1 ? 'reason' : 'reasons'}: toolyard show ${shownIds(terminal)(id)}`,
          ),
        ]),
  ];
}

function shown(text: string): string {
  return oneLine(visible(text, true), REASON_CHARS);
}
