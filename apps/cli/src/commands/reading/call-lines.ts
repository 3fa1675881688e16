import type { CallSummary } from '#contracts';
import type { CallSubjects } from '../../terminal/call-subjects.js';
import { oneLine } from '../../terminal/safe-text.js';
import type { Terminal } from '../../terminal/terminal.js';

/** One word; `error` for a completed call whose result is one. */
export function stateOf({ outcome, isError, retrying, suspended, status }: CallSummary): string {
  if (outcome === 'completed' && isError === true) return 'error';
  return outcome ?? (retrying ? 'retrying' : suspended ? 'suspended' : status);
}

/** Of a failed call, for the reason to have room beside it. */
const SUBJECT_CHARS = 60;

/** What the call does, and its error if it has one. */
export function aboutOf(call: CallSummary, subjects: CallSubjects): string {
  const { tool, preview, error, outcome, note } = call;
  const reason = error === undefined ? (outcome === 'completed' ? note : undefined) : `${error.code}: ${error.message}`;
  const subject = oneLine(subjects.line(tool, preview), reason === undefined ? 500 : SUBJECT_CHARS);
  return reason === undefined ? subject : `${subject}  ✗ ${reason}`;
}

/** Colours the status alone, which is the second word: the id before it has no blank. */
export function painted(line: string, terminal: Terminal): string {
  return line.replace(
    /^(\S+\s+)(completed|error|failed|timed_out|unknown|denied|cancelled|running)(?= )/,
    (_all, id: string, status: string) => {
      const style = status === 'completed' ? 'green' : status === 'running' ? 'cyan' : status === 'cancelled' ? 'yellow' : 'red';
      return id + terminal.colour(style, status);
    },
  );
}
