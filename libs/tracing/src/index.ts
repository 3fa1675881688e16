export { openTracing } from './open-tracing.js';
export { TRACING_ENV, tracingConfig, type TracingConfig } from './tracing.config.js';
export type { Attributes, Span, Tracing } from './tracing.port.js';
