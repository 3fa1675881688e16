import { Controller } from '@nestjs/common';
import { ProblemError, ROUTES, type Principal, type QueryOf, type ResponseOf } from '#contracts';
import { ToolRegistry, formatCatalog, matchesSearch } from '#tool-sdk';
import { isToolAllowed } from '../auth/tool-patterns.js';
import { NO_DIALECTS } from './admission/call-evaluator.service.js';
import { EffectivePolicyService } from './admission/effective-policy.service.js';
import { ToolAvailabilityService } from '../workers/tool-availability.service.js';
import { Endpoint, RouteQuery } from '../auth/endpoint.decorator.js';
import { CurrentPrincipal } from '../auth/principal.decorator.js';

/**
 * The catalog that the caller's key may use, in the shape its model's API wants. `full` also shows what the agent or the session
 * does not have or no worker can run, and why; the shapes for models have what a call would be let through for now.
 */
@Controller()
export class ToolsController {
  constructor(
    private readonly tools: ToolRegistry,
    private readonly rules: EffectivePolicyService,
    private readonly readiness: ToolAvailabilityService,
  ) {}

  @Endpoint(ROUTES.listTools)
  async list(
    @CurrentPrincipal() caller: Principal,
    @RouteQuery() query: QueryOf<typeof ROUTES.listTools>,
  ): Promise<ResponseOf<typeof ROUTES.listTools>> {
    const { format, dialect, q, sessionId, agentId } = query;
    if (dialect !== undefined) throw new ProblemError('not_implemented', NO_DIALECTS);
    const visible = this.tools
      .for(caller.tenantId)
      .list()
      .filter((tool) => isToolAllowed(caller, tool) && (q === undefined || matchesSearch(tool, q)));
    const [rules] = await Promise.all([this.rules.of(caller, { sessionId, agentId }), this.readiness.refresh()]);
    const judged = visible.map((tool) => {
      const allowed = rules.available(tool);
      return { ...tool, available: allowed.ok ? this.readiness.hasLiveWorker(tool) : allowed };
    });
    if (format === 'full') return { tools: judged };
    const callable = judged.filter(({ available }) => available.ok);
    return { tools: formatCatalog(callable, format) };
  }
}
