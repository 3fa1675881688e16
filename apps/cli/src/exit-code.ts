import { CALL_ERROR_CODES, type Call, type CallOutcome } from '#contracts';
import { ToolyardError } from '#client';

/** The exit codes of the program, one for each outcome. */
export const EXIT = {
  completed: 0,
  failed: 1,
  usage: 2,
  denied: 3,
  timedOut: 4,
  cancelled: 5,
  unknown: 6,
  /** The gateway cannot be reached, or the address is not that of a gateway. */
  unreachable: 7,
  /** The gateway refused the request: wrong key, unknown id, conflicting state. */
  refused: 8,
  /** Ctrl-C, as shells count it. */
  interrupted: 130,
} as const;

const OUTCOMES: Readonly<Record<CallOutcome, number>> = {
  completed: EXIT.completed,
  failed: EXIT.failed,
  denied: EXIT.denied,
  timed_out: EXIT.timedOut,
  cancelled: EXIT.cancelled,
  unknown: EXIT.unknown,
};

/** A completed call with an error result (a command with an exit code other than 0) counts as failed. */
export function exitCodeOf({ outcome, isError }: Pick<Call, 'outcome' | 'isError'>): number {
  if (outcome === undefined) return EXIT.unknown;
  return outcome === 'completed' && isError === true ? EXIT.failed : OUTCOMES[outcome];
}

const CALL_CODES: ReadonlySet<string> = new Set(CALL_ERROR_CODES);

/** A refused call has the code of its outcome; other errors concern the request. */
export function exitCodeOfError(error: ToolyardError): number {
  if (error.callId !== undefined && CALL_CODES.has(error.code)) return error.status === 403 ? EXIT.denied : EXIT.failed;
  switch (error.code) {
    case 'unreachable':
    case 'protocol':
    case 'unavailable':
    case 'overloaded':
      return EXIT.unreachable;
    case 'timed_out':
      return EXIT.timedOut;
    case 'aborted':
      return EXIT.interrupted;
    case 'invalid_request':
      return EXIT.usage;
    case 'stream_incomplete':
      return EXIT.failed;
    default:
      return EXIT.refused;
  }
}

/** The table for `--help`. */
export const EXIT_CODES_HELP = `
Exit codes: 0 completed, 1 failed, 2 wrong usage, 3 denied, 4 timed out, 5 cancelled, 6 outcome unknown (a side effect
may have happened), 7 gateway not reachable, 8 refused by the gateway, 130 ended by Ctrl-C.`;
