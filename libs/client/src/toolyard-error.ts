import type { ErrorCode, Problem, Result } from '#contracts';

/**
 * What goes wrong on this side, where no gateway could say so:
 * - `unreachable`: no answer came (connection refused, cut, DNS); with a submission it is not known whether it arrived;
 * - `timed_out`: the deadline that this program set has passed; `aborted`: its AbortSignal was aborted;
 * - `protocol`: what answered does not speak Toolyard (another server, a proxy's page, a much newer version);
 * - `stream_incomplete`: the events of a call do not add up to what its End says.
 */
export type ClientErrorCode = 'unreachable' | 'timed_out' | 'aborted' | 'protocol' | 'stream_incomplete';

/** Codes whose title would only repeat what the detail says. */
const DETAIL_SAYS_ALL: ReadonlySet<string> = new Set<ErrorCode>(['invalid_request', 'resource_not_found']);

/** Every error that the client throws. `message` can be shown to a person as it is. */
export class ToolyardError extends Error {
  override readonly name = 'ToolyardError';

  constructor(
    readonly code: ErrorCode | ClientErrorCode,
    message: string,
    /** The gateway's own words, where it spoke. */
    readonly problem?: Problem,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }

  static of(problem: Problem): ToolyardError {
    const { code, title, detail } = problem;
    return new ToolyardError(code, DETAIL_SAYS_ALL.has(code) || detail.startsWith(title) ? detail : `${title}: ${detail}`, problem);
  }

  /** The HTTP status, where there was one. */
  get status(): number | undefined {
    return this.problem?.status;
  }

  /** A refused submission is a call too: this is its id. */
  get callId(): string | undefined {
    return this.problem?.callId;
  }

  /** What to hand to the model for a refused submission. */
  get result(): Result | undefined {
    return this.problem?.result;
  }
}
