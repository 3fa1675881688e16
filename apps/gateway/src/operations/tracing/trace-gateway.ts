import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Tracing } from '#observability';
import { DecideApprovalService } from '../../approvals/decide-approval.service.js';
import { AdmissionTracer } from '../../calls/admission/admission-tracer.service.js';
import { CancelCallService } from '../../calls/cancel-call.service.js';
import { CallReader } from '../../calls/read/call-reader.service.js';
import { traceCalls } from './trace-calls.js';
import { traceRequests, type ActiveHttpTraces } from './trace-requests.js';

/** Traces a gateway that is created but not yet initialised: hooks of the HTTP server come before its routes. */
export function traceGateway(app: NestFastifyApplication, tracing: Tracing): void {
  const open: ActiveHttpTraces = new Set();
  traceRequests(app.getHttpAdapter().getInstance(), tracing, open);
  app.get(AdmissionTracer).enable(tracing, (traceparent) => open.has(traceparent));
  traceCalls(tracing, {
    decideApproval: app.get(DecideApprovalService),
    cancelCall: app.get(CancelCallService),
    reader: app.get(CallReader),
  });
}
