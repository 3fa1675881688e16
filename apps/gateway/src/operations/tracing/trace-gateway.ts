import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { EventLog } from '#event-log';
import { ToolRegistry } from '#tool-sdk';
import type { Tracing } from '#observability';
import { CallEvaluator } from '../../calls/admission/call-evaluator.service.js';
import { CallReader } from '../../calls/read/call-reader.service.js';
import { CancelCallService } from '../../calls/cancel-call.service.js';
import { DecideApprovalService } from '../../approvals/decide-approval.service.js';
import { SubmitCallService } from '../../calls/submit-call.service.js';
import { traceCalls } from './trace-calls.js';
import { traceRequests, type ActiveHttpTraces } from './trace-requests.js';

/** Traces a gateway that is made but not yet initialised: hooks of the door come before its routes. */
export function traceGateway(app: NestFastifyApplication, tracing: Tracing): void {
  const open: ActiveHttpTraces = new Set();
  traceRequests(app.getHttpAdapter().getInstance(), tracing, open);
  const services = {
    submitCall: app.get(SubmitCallService),
    judge: app.get(CallEvaluator),
    log: app.get(EventLog),
    decideApproval: app.get(DecideApprovalService),
    cancelCall: app.get(CancelCallService),
    reader: app.get(CallReader),
    tools: app.get(ToolRegistry),
  };
  traceCalls(tracing, services, open);
}
