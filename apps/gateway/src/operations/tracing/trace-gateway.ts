import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Tracing } from '#observability';
import { AdmissionTracer } from '../../calls/admission/admission-tracer.service.js';
import { CallTracer } from '../../calls/call-tracer.service.js';
import { traceRequests, type ActiveHttpTraces } from './trace-requests.js';

/** Traces a gateway that is created but not yet initialised: hooks of the HTTP server must precede its routes. */
export function traceGateway(app: NestFastifyApplication, tracing: Tracing): void {
  const open: ActiveHttpTraces = new Set();
  traceRequests(app.getHttpAdapter().getInstance(), tracing, open);
  app.get(AdmissionTracer).enable(tracing, (traceparent) => open.has(traceparent));
  app.get(CallTracer).enable(tracing);
}
