import { Controller } from '@nestjs/common';
import { ROUTES, type Principal, type QueryOf, type ResponseOf } from '#contracts';
import { formatCatalog, matchesSearch } from '#tool-sdk';
import { ToolCatalog } from './tool-catalog.service.js';
import { Endpoint, RouteQuery } from '../auth/endpoint.decorator.js';
import { CurrentPrincipal } from '../auth/principal.decorator.js';

/**
 * The catalog that the caller's key may use, in the shape its model's API wants. `full` also shows what the agent or the session
 * does not have or no worker can run, and why, and
 * deferred tools; the shapes for models have what a call would be let through for now, without deferred tools that the session has not found.
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
    return { tools: formatCatalog(callable, format) };
  }
}
