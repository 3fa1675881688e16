import { Controller, Param } from '@nestjs/common';
import { ROUTES, ViewName, type BodyOf, type Principal, type SavedView } from '#contracts';
import { Endpoint, RouteBody } from '../auth/endpoint.decorator.js';
import { CurrentPrincipal } from '../auth/principal.decorator.js';
import { ZodPipe } from '../platform/http/zod.pipe.js';
import { ViewStore } from './view-store.service.js';

const NAME = new ZodPipe(ViewName);

/** HTTP controller of saved views of the list of calls. */
@Controller()
export class ViewsController {
  constructor(private readonly views: ViewStore) {}

  @Endpoint(ROUTES.listViews)
  async list(@CurrentPrincipal() caller: Principal): Promise<{ views: SavedView[] }> {
    return { views: await this.views.list(caller) };
  }

  @Endpoint(ROUTES.putView)
  put(
    @CurrentPrincipal() caller: Principal,
    @Param('name', NAME) name: string,
    @RouteBody() { search }: BodyOf<typeof ROUTES.putView>,
  ): Promise<SavedView> {
    return this.views.put(caller, { name, search, savedAt: new Date().toISOString() });
  }

  @Endpoint(ROUTES.deleteView)
  delete(@CurrentPrincipal() caller: Principal, @Param('name', NAME) name: string): Promise<void> {
    return this.views.delete(caller, name);
  }
}
