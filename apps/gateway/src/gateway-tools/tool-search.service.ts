import { Injectable } from '@nestjs/common';
import type { ToolAnswer, ToolDescriptor } from '#contracts';
import { ToolSearchArguments } from '#tools';
import { EffectivePolicyService } from '../calls/admission/effective-policy.service.js';
import { ToolCatalog } from '../calls/tool-catalog.service.js';
import { SessionDataStore } from '../sessions/session-data-store.service.js';
import { normalizedQuery, searchTools } from './search-tools.js';
import { jsonOutput, type ToolCall, type ToolHandler } from './tool-call.js';

const MOST_FOUND = 200;

/** Finds deferred tools, and adds them to the lists of the session. */
@Injectable()
export class ToolSearch {
  readonly handlers: Readonly<Record<string, ToolHandler>> = { tool_search: (call) => this.search(call) };

  constructor(
    private readonly catalog: ToolCatalog,
    private readonly policies: EffectivePolicyService,
    private readonly data: SessionDataStore,
  ) {}

  private async search({ callId, principal, sessionId, agentId, agent, dialect, args }: ToolCall): Promise<ToolAnswer> {
    const { query, max_results } = ToolSearchArguments.parse(args);
    const subject = { sessionId, agentId };
    const [callable, rules] = await Promise.all([
      this.catalog.callable(principal, subject, agent, dialect),
      this.policies.of(principal, subject),
    ]);
    const deferred = callable.filter((tool) => rules.isDeferred({ ...tool, name: canonical(tool) }));
    // Searches all tools if none is deferred.
    const matches = searchTools(deferred.length === 0 ? callable : deferred, query, max_results);
    const found = deferred.filter(({ name }) => matches.includes(name)).map(canonical);
    if (sessionId !== undefined && deferred.length > 0 && matches.length > 0)
      await this.data.change({ principal, sessionId, callId }, ({ foundTools = [] }) => ({
        foundTools: [...new Set([...foundTools, ...found])].slice(-MOST_FOUND),
      }));
    return jsonOutput({ matches, query, normalized_query: normalizedQuery(query), total_deferred_tools: deferred.length });
  }
}

function canonical({ name, canonicalName = name }: ToolDescriptor): string {
  return canonicalName;
}
