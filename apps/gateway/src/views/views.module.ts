import { Module } from '@nestjs/common';
import { ViewStore } from './view-store.service.js';
import { ViewsController } from './views.controller.js';

/** Saved views of the list of calls. */
@Module({ controllers: [ViewsController], providers: [ViewStore] })
export class ViewsModule {}
