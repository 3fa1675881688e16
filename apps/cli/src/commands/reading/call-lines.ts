import type { CallSummary } from '#contracts';
import { errorText } from '#subject';
import type { CallSubjects } from '../../terminal/call-subjects.js';
import { oneLine } from '../../terminal/safe-text.js';
import type { Terminal } from '../../terminal/terminal.js';

/** State as one word; `error` for a completed call whose result is an error. */
export function stateOf({ outcome, isError, retrying, suspended, status }: CallSummary): string {
  if (outcome === 'completed' && isError === true) return 'error';
  return outcome ?? (retrying ? 'retrying' : suspended ? 'suspended' : status);
}

/** Length of a failed call's subject, which leaves space for the reason beside it. */
const SUBJECT_CHARS = 60;

/** Subject of the call, and its error if it has one. */
export function aboutOf(call: CallSummary, subjects: CallSubjects): string {
  const { tool, preview, error, outcome, note } = call;
  const reason = error === undefined ? (outcome === 'completed' ? note : undefined) : errorText(error);
  const subject = oneLine(subjects.line(tool, preview), reason === undefined ? 500 : SUBJECT_CHARS);
  return reason === undefined ? subject : `${subject}  ✗ ${reason}`;
}

/** Colours the status alone, which is the second word: the id before it has no blank. */
export function paintLine(line: string, terminal: Terminal): string {
  return line.replace(
    /^(\S+\s+)(completed|error|failed|timed_out|unknown|denied|cancelled|running)(?= )/,
    (_all, id: string, status: string) => {
      const style = status === 'completed' ? 'green' : status === 'running' ? 'cyan' : status === 'cancelled' ? 'yellow' : 'red';
      return id + terminal.colour(style, status);
    },
  );
}
