export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

export interface SpanStart {
  readonly name: string;
  /** Default `internal`. */
  readonly kind?: 'server' | 'producer' | 'internal';
  /** W3C traceparent of the parent; undefined for a new trace. */
  readonly parent: string | undefined;
  /** Start in ms since the epoch, if before now. */
  readonly startedAt?: number;
  /** End of a span that is recorded after the fact, ms since the epoch. */
  readonly endedAt?: number;
  readonly attributes: Attributes;
}

/** Span. Methods never throw, and have no effect after its end or if it is not sampled. */
export interface Span {
  /** W3C traceparent for children of this span. */
  readonly traceparent: string;
  set(attributes: Attributes): void;
  /** Runs work with this span as the active one, the parent of spans of instrumented code. */
  run<T>(work: () => T): T;
  /** `failed` marks it as an error with this `error.type`, a low-cardinality code; `message` only if content may be exported. */
  end(facts?: { readonly failed?: { readonly type: string; readonly message?: string } }): void;
}

/** Spans of one app, exported in the background. Undefined while tracing is off. */
export interface Tracing {
  /** True if arguments, results and messages may be attributes. */
  readonly content: boolean;
  /** Traceparent of the active span. */
  readonly active: string | undefined;
  start(span: SpanStart): Span;
  /** Sends the remaining spans, for at most two seconds. Never rejects. Idempotent. */
  close(): Promise<void>;
}

/** Log for failing and recovering exports. */
export interface TracingLog {
  warn(facts: object, message: string): void;
}

/** Identity of a process of a service. */
export interface TracedProcess {
  readonly version: string;
  /** `service.instance.id`: the name of the gateway or worker. */
  readonly instance: string;
}
