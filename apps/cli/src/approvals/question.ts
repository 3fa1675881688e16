import type { Call } from '#contracts';
import type { CommandContext } from '../command-context.js';
import { argumentLines } from '../terminal/argument-lines.js';
import type { CallSubjects } from '../terminal/call-subjects.js';
import { oneLine } from '../terminal/safe-text.js';
import { shownIds } from '../terminal/shown-ids.js';
import { duration } from '../terminal/time-text.js';
import { visible } from '../terminal/visible-text.js';

const REASON_CHARS = 1000;

/** What a person is asked about one call: who asks, all that would run, and why a person is asked. */
export function questionLines(call: Call, subjects: CallSubjects, { terminal }: Pick<CommandContext, 'terminal'>): string[] {
  const { id, tool, agentId, sessionId, approval, purpose } = call;
  const left = approval && `${duration(Math.max(0, Date.parse(approval.expiresAt) - Date.now()))} left`;
  const about = [sessionId && `session ${sessionId}`, agentId && `agent ${agentId}`, left, shownIds(terminal)(id)];
  const head = `${terminal.colour('bold', tool)} ${terminal.colour('dim', `· ${about.filter((part) => part !== undefined).join(' · ')}`)}`;
  const reasons = [...new Set(approval?.reasons ?? [])].map((reason) => `  Why: ${shown(reason)}`);
  const arguments_ = argumentLines(call.arguments, subjects.of(tool), terminal, true).map((line) => `    ${line}`);
  return [head, ...arguments_, ...(purpose === undefined ? [] : [`  The agent says: ${shown(purpose)}`]), ...reasons];
}

function shown(text: string): string {
  return oneLine(visible(text, true), REASON_CHARS);
}
