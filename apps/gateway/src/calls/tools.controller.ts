import { Controller, Get, Query } from '@nestjs/common';
import { ListToolsQuery, ProblemError, type Principal } from '#contracts';
import { type CatalogEntry, ToolRegistry, formatCatalog, matchesSearch } from '#tool-sdk';
import { isToolAllowed } from '../auth/tool-patterns.js';
import { NO_DIALECTS } from './admission/call-evaluator.service.js';
import { EffectivePolicyService } from './admission/effective-policy.service.js';
import { ToolAvailabilityService } from '../workers/tool-availability.service.js';
import { CurrentPrincipal, RequireScope } from '../auth/principal.decorator.js';
import { parse } from '../platform/http/parse.js';

/**
 * The catalog that the caller's key may use, in the shape its model's API wants. `full` also shows what the agent or the session
 * does not have or no worker can run, and why; the shapes for models have what a call would be let through for now.
 */
@Controller('v1/tools')
export class ToolsController {
  constructor(
    private readonly tools: ToolRegistry,
    private readonly rules: EffectivePolicyService,
    private readonly readiness: ToolAvailabilityService,
  ) {}

  @RequireScope('read')
  @Get()
  async list(@CurrentPrincipal() caller: Principal, @Query() query: unknown): Promise<{ tools: CatalogEntry[] }> {
    const { format, dialect, q, sessionId, agentId } = parse(ListToolsQuery, query, 'query');
    if (dialect !== undefined) throw new ProblemError('not_implemented', NO_DIALECTS);
    const visible = this.tools.list().filter((tool) => isToolAllowed(caller, tool.name) && (q === undefined || matchesSearch(tool, q)));
    const [rules] = await Promise.all([this.rules.of(caller, { sessionId, agentId }), this.readiness.refresh()]);
    const judged = visible.map((tool) => {
      const allowed = rules.available(tool);
      return { ...tool, available: allowed.ok ? this.readiness.hasLiveWorker(tool) : allowed };
    });
    return { tools: formatCatalog(format === 'full' ? judged : judged.filter(({ available }) => available.ok), format) };
  }
}
