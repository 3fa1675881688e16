import { Controller, Inject } from '@nestjs/common';
import { ROUTES, type ActPage, type Principal, type QueryOf } from '#contracts';
import { Endpoint, RouteQuery } from '../auth/endpoint.decorator.js';
import { CurrentPrincipal } from '../auth/principal.decorator.js';
import type { CallQueries } from '../platform/call-queries.js';
import { ClientDisconnect } from '../platform/http/client-disconnect.js';
import { CALL_QUERIES } from '../platform/tokens.js';

@Controller()
export class AuditController {
  constructor(@Inject(CALL_QUERIES) private readonly queries: CallQueries) {}

  @Endpoint(ROUTES.listActs)
  list(
    @CurrentPrincipal() caller: Principal,
    @RouteQuery() query: QueryOf<typeof ROUTES.listActs>,
    @ClientDisconnect() disconnect: AbortSignal,
  ): Promise<ActPage> {
    return this.queries.acts(caller.tenantId, query, disconnect);
  }
}
