export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

export interface SpanStart {
  readonly name: string;
  /** Default `internal`. */
  readonly kind?: 'server' | 'producer' | 'internal';
  /** W3C traceparent of the parent; undefined begins a trace of its own. */
  readonly parent: string | undefined;
  /** Ms since the epoch, when it began before now. */
  readonly startedAt?: number;
  /** End of a span that is recorded after the fact, ms since the epoch. */
  readonly endedAt?: number;
  readonly attributes: Attributes;
}

/** One span. Methods never throw, and do nothing once it has ended or when it is not sampled. */
export interface Span {
  /** W3C traceparent that makes others its children. */
  readonly traceparent: string;
  set(attributes: Attributes): void;
  /** Runs work with this span as the active one: what instrumented code starts in it becomes its child. */
  run<T>(work: () => T): T;
  /** `failed` marks it as an error with this `error.type`, a low-cardinality code; `message` only where content may be shown. */
  end(facts?: { readonly failed?: { readonly type: string; readonly message?: string } }): void;
}

/** Spans of one app, exported in the background. There is none while tracing is off: callers hold `Tracing | undefined`. */
export interface Tracing {
  /** Whether arguments, results and messages may be attributes. */
  readonly content: boolean;
  /** The traceparent of the span that is active here. */
  readonly active: string | undefined;
  start(span: SpanStart): Span;
  /** Sends what is left, at most for two seconds. Never rejects. Idempotent. */
  close(): Promise<void>;
}

/** Log for failing and recovering exports. */
export interface TracingLog {
  warn(facts: object, message: string): void;
}

/** What tells one process of a service from another. */
export interface TracedProcess {
  readonly version: string;
  /** `service.instance.id`: the name of the gateway or worker. */
  readonly instance: string;
}
