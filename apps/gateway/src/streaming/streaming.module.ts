import { Module } from '@nestjs/common';
import { ApprovalsModule } from '../approvals/approvals.module.js';
import { CallsModule } from '../calls/calls.module.js';
import { EventsController } from './events.controller.js';
import { EventStream } from './sse/event-stream.js';
import { StreamConnections } from './ws/stream-connections.service.js';
import { StreamGateway } from './ws/stream.gateway.js';

/** Events to clients: WebSockets, event streams, and the events of one call as JSON. */
@Module({
  imports: [CallsModule, ApprovalsModule],
  controllers: [EventsController],
  providers: [EventStream, StreamConnections, StreamGateway],
})
export class StreamingModule {}
