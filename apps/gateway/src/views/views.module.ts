import { Module } from '@nestjs/common';
import { SessionsModule } from '../sessions/sessions.module.js';
import { ViewStore } from './view-store.service.js';
import { ViewsController } from './views.controller.js';

/** Saved views of the list of calls. */
@Module({ imports: [SessionsModule], controllers: [ViewsController], providers: [ViewStore] })
export class ViewsModule {}
