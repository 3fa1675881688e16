import { Controller } from '@nestjs/common';
import { ROUTES, type Principal, type QueryOf, type ResponseOf } from '#contracts';
import { formatCatalog, matchesSearch } from '#tool-sdk';
import { ToolCatalog } from './tool-catalog.service.js';
import { Endpoint, RouteQuery } from '../auth/endpoint.decorator.js';
import { CurrentPrincipal } from '../auth/principal.decorator.js';

/**
 * Catalog of the caller's key, in the format of its model's API. `full` also lists deferred tools, and tools that the agent or
 * session lacks or no worker serves, with the reason. The formats for models list tools for which a call would be accepted now,
 * without deferred tools that the session has not found.
 */
@Controller()
export class ToolsController {
  constructor(private readonly catalog: ToolCatalog) {}

  @Endpoint(ROUTES.listTools)
  async list(
    @CurrentPrincipal() caller: Principal,
    @RouteQuery() query: QueryOf<typeof ROUTES.listTools>,
  ): Promise<ResponseOf<typeof ROUTES.listTools>> {
    const { format, dialect, q, ...subject } = query;
    const visible = await this.catalog.listIn(caller, subject, dialect);
    const found = q === undefined ? visible : visible.filter((tool) => matchesSearch(tool, q));
    if (format === 'full') return { tools: found };
    const callable = found.filter(({ available, deferred }) => available.ok && deferred !== true);
    return { tools: await formatCatalog(callable, format) };
  }
}
