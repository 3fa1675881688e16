import type { Content, JsonSchema, JsonValue } from '#contracts';

/** Result of `run`. A string is one text item. */
export type ToolOutput = string | readonly Content[] | ToolOutputObject | Suspension;

export interface ToolOutputObject {
  readonly content: readonly Content[];
  /** Marks a completed call whose outcome the model should read as an error, such as a non-zero exit code. */
  readonly isError?: boolean;
  /** Required when the tool has an output schema. */
  readonly structuredContent?: unknown;
  /** Facts for people and programs; not sent to the model. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** Values for code that formats the result in another way. Neither stored nor sent, so possibly large. */
  readonly data?: Readonly<Record<string, unknown>>;
  /** Calls that this one made. */
  readonly childCallIds?: readonly string[];
  /** Bytes of text that the tool received, where it kept fewer. The model reads this as the original size. */
  readonly seenBytes?: number;
  /**
   * Set where the end of the text says as much as its beginning: where it is too long for the model, both are kept, and this
   * tells the model how to read on from that byte of the whole output. Several texts are then parts of one, such as the streams
   * of a command: each keeps its beginning and end, and they are joined by line ends. Default: the beginning is kept.
   */
  readonly readOn?: (fromByte: number) => string;
}

export interface SuspensionOptions {
  /**
   * Milliseconds after which the tool runs again in any case. Required without `until`. Without it a call whose children do not
   * end runs again after 15 s to 10 minutes, the longer it takes, and one that gets no input ends with `input_expired`.
   */
  readonly resumeInMs?: number;
  /** `input`: a person or a program gives a value. `children`: a call that this one made ends. */
  readonly until?: 'input' | 'children';
  /** Question for people; at most 2,048 bytes are kept. Only with `until: 'input'`. */
  readonly prompt?: string;
  /** JSON schema of the value, at most 4,096 bytes. Values that do not fit are refused. Only with `until: 'input'`. */
  readonly inputSchema?: JsonSchema;
  /**
   * The question is for the model of the MCP client that made the call: parameters of `sampling/createMessage`, at most 16,384
   * bytes as JSON. Only where `ctx.sampling` is set, and with `until: 'input'`.
   */
  readonly sampling?: JsonValue;
  /** True if the tool continues after people decline to answer: `ctx.resumed.declined`. Default: people can only cancel the call. */
  readonly declinable?: boolean;
  /** State for the next attempt as `ctx.resumed.state`, at most 1 MiB as JSON. Not visible to watchers. */
  readonly state?: JsonValue;
}

/**
 * Ends the attempt without ending the call. The call waits without holding a worker; then the tool runs again with the same
 * arguments, and `ctx.resumed` has the reason. Effects of the attempt are not undone: store completed steps in `state` to avoid
 * repeating them.
 *
 * @example
 * if (ctx.resumed?.reason !== 'input') return new Suspension({ until: 'input', prompt: 'Which branch?' });
 * return `on ${String(ctx.resumed.input)}`;
 */
export class Suspension {
  readonly options: SuspensionOptions;

  constructor(options: number | SuspensionOptions) {
    this.options = typeof options === 'number' ? { resumeInMs: options } : options;
  }

  get resumeInMs(): number | undefined {
    return this.options.resumeInMs;
  }
}
