import { Module } from '@nestjs/common';
import { GovernanceModule } from '../governance/governance.module.js';
import { SessionsController } from './sessions.controller.js';
import { SessionDataStore } from './session-data-store.service.js';
import { SessionRoom } from './session-room.service.js';
import { SessionStore } from './session-store.service.js';
import { SessionEventPublisher } from './session-event-publisher.service.js';
import { SessionCancelChannel } from './session-cancel-channel.service.js';

const shared = [SessionRoom, SessionStore, SessionDataStore, SessionEventPublisher, SessionCancelChannel];

/** State of sessions: permission mode, tools, grants, hooks, batch strategy. */
@Module({ imports: [GovernanceModule], controllers: [SessionsController], providers: [...shared], exports: shared })
export class SessionsModule {}
