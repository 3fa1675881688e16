/** Platform maxima; a request beyond one is rejected, not cut. */
export const LIMITS = {
  bodyBytes: 1_048_576,
  jsonDepth: 64,
  /** Members of objects and items of lists at any depth, and containers. */
  jsonParts: 25_000,
  labels: 32,
  labelBytes: 256,
  waitSeconds: 60,
  pageSize: 200,
  /** Events in one response. */
  eventsPage: 1_000,
  queueMs: 24 * 3_600_000,
  runMs: 600_000,
  totalMs: 7 * 24 * 3_600_000,
  cancelGraceMs: 60_000,
  /** Bytes of a WebSocket frame: of one that submits a call, like a body over HTTP, and of any other. */
  submitFrameBytes: 1_048_576,
  frameBytes: 65_536,
  filtersPerSocket: 100,
  modelOutputBytes: 16_384,
  /** Sizes of a tool's input request and its state, and of the given value. */
  promptBytes: 2_048,
  inputSchemaBytes: 4_096,
  samplingBytes: 16_384,
  inputBytes: 65_536,
  suspensionStateBytes: 1_048_576,
} as const;

/** Lifetime of data stored beside a call: no call lives longer (`totalMs`, and a day for late writes). */
export const KEPT_WITH_CALL_SECONDS = 8 * 24 * 3_600;

/** Platform maxima of batches and steering. */
export const BATCH_LIMITS = { calls: 1_000, steeringMessageChars: 16_384, steeringMessages: 100 } as const;
