import type { ErrorCode, Problem, Result } from '#contracts';

/**
 * Errors of the client:
 * - `unreachable`: no response (connection refused or broken, DNS); a submission may have arrived or not;
 * - `timed_out`: the deadline of the caller has passed; `aborted`: its AbortSignal was aborted;
 * - `protocol`: the response is not of a Toolyard gateway (another server, a proxy's page, a much newer version);
 * - `stream_incomplete`: the events of a call do not match its End.
 */
export type ClientErrorCode = 'unreachable' | 'timed_out' | 'aborted' | 'protocol' | 'stream_incomplete';

/** Codes whose detail already contains the title. */
const DETAIL_ONLY: ReadonlySet<string> = new Set<ErrorCode>(['invalid_request', 'resource_not_found']);

/** Every error that the client throws. `message` can be shown to people. */
export class ToolyardError extends Error {
  override readonly name = 'ToolyardError';
  /** True for `unreachable` if nothing has ever responded to this client, so that its address may be wrong. */
  readonly neverAnswered: boolean;

  constructor(
    readonly code: ErrorCode | ClientErrorCode,
    message: string,
    /** Problem document, if the gateway sent one. */
    readonly problem?: Problem,
    { neverAnswered = false, ...options }: ErrorOptions & { readonly neverAnswered?: boolean } = {},
  ) {
    super(message, options);
    this.neverAnswered = neverAnswered;
  }

  static of(problem: Problem): ToolyardError {
    const { code, title, detail } = problem;
    return new ToolyardError(code, DETAIL_ONLY.has(code) || detail.startsWith(title) ? detail : `${title}: ${detail}`, problem);
  }

  get status(): number | undefined {
    return this.problem?.status;
  }

  /** Id of the call; rejected submissions have one too. */
  get callId(): string | undefined {
    return this.problem?.callId;
  }

  /** Result for the model after a rejected submission. */
  get result(): Result | undefined {
    return this.problem?.result;
  }
}
