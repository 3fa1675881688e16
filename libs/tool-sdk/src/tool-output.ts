import type { Content } from '#contracts';

/** What `run` returns. A string is one text item. */
export type ToolOutput = string | readonly Content[] | ToolOutputObject | Suspension;

export interface ToolOutputObject {
  readonly content: readonly Content[];
  /** Marks a completed call whose outcome the model should read as an error, such as a non-zero exit code. */
  readonly isError?: boolean;
  /** Required when the tool has an output schema. */
  readonly structuredContent?: unknown;
  /** Facts for people and programs; not sent to the model. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** Bytes of text that the tool received, where it kept fewer. The model reads this as the original size. */
  readonly seenBytes?: number;
}

/**
 * Ends the attempt without ending the call. The call waits without holding a worker; the tool runs again with the same
 * arguments after `resumeInMs` milliseconds.
 */
export class Suspension {
  constructor(readonly resumeInMs: number) {}
}
