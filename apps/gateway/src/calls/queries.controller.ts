import { Controller, Headers, Inject } from '@nestjs/common';
import {
  ProblemError,
  ROUTES,
  type BodyOf,
  type BulkResult,
  type CallCount,
  type CallFacets,
  type CallPage,
  type FailurePage,
  type PolicyTestResult,
  type Principal,
  type QueryOf,
  type SessionPage,
  type Stats,
  type ToolStatsPage,
  type UsagePage,
} from '#contracts';
import { BulkCallsService } from './bulk-calls.service.js';
import type { CallQueries } from '../platform/call-queries.js';
import { ClientDisconnect } from '../platform/http/client-disconnect.js';
import { CALL_QUERIES } from '../platform/tokens.js';
import { Endpoint, RouteBody, RouteQuery } from '../auth/endpoint.decorator.js';
import { CurrentPrincipal } from '../auth/principal.decorator.js';
import { TestPolicyService } from './test-policy.service.js';
import { submitOptions, type SubmitHeaders } from './submit-headers.js';

/** Queries over many calls: lists, counts, numbers, failures, sessions; and changes to all calls of a filter. */
@Controller()
export class QueriesController {
  constructor(
    @Inject(CALL_QUERIES) private readonly queries: CallQueries,
    private readonly bulk: BulkCallsService,
    private readonly policyTest: TestPolicyService,
  ) {}

  @Endpoint(ROUTES.listCalls)
  list(
    @CurrentPrincipal() caller: Principal,
    @RouteQuery() query: QueryOf<typeof ROUTES.listCalls>,
    @ClientDisconnect() disconnect: AbortSignal,
  ): Promise<CallPage> {
    return this.queries.page(caller.tenantId, query, disconnect);
  }

  @Endpoint(ROUTES.countCalls)
  count(
    @CurrentPrincipal() caller: Principal,
    @RouteQuery() query: QueryOf<typeof ROUTES.countCalls>,
    @ClientDisconnect() disconnect: AbortSignal,
  ): Promise<CallCount> {
    return this.queries.count(caller.tenantId, query, disconnect);
  }

  @Endpoint(ROUTES.facetCalls)
  facets(
    @CurrentPrincipal() caller: Principal,
    @RouteQuery() query: QueryOf<typeof ROUTES.facetCalls>,
    @ClientDisconnect() disconnect: AbortSignal,
  ): Promise<CallFacets> {
    return this.queries.facets(caller.tenantId, query, disconnect);
  }

  @Endpoint(ROUTES.cancelCalls)
  cancel(@CurrentPrincipal() caller: Principal, @RouteBody() body: BodyOf<typeof ROUTES.cancelCalls>): Promise<BulkResult> {
    return this.bulk.cancel(caller, body);
  }

  @Endpoint(ROUTES.replayCalls)
  replay(
    @CurrentPrincipal() caller: Principal,
    @RouteBody() body: BodyOf<typeof ROUTES.replayCalls>,
    @Headers() headers: SubmitHeaders,
  ): Promise<BulkResult> {
    return this.bulk.replay(caller, body, submitOptions(headers).idempotencyKey);
  }

  @Endpoint(ROUTES.eraseCalls)
  erase(@CurrentPrincipal() caller: Principal, @RouteBody() body: BodyOf<typeof ROUTES.eraseCalls>): Promise<BulkResult> {
    return this.bulk.erase(caller, body);
  }

  @Endpoint(ROUTES.getStats)
  stats(
    @CurrentPrincipal() caller: Principal,
    @RouteQuery() query: QueryOf<typeof ROUTES.getStats>,
    @ClientDisconnect() disconnect: AbortSignal,
  ): Promise<Stats> {
    return this.queries.stats(caller.tenantId, query, disconnect);
  }

  @Endpoint(ROUTES.getToolStats)
  tools(
    @CurrentPrincipal() caller: Principal,
    @RouteQuery() query: QueryOf<typeof ROUTES.getToolStats>,
    @ClientDisconnect() disconnect: AbortSignal,
  ): Promise<ToolStatsPage> {
    return this.queries.tools(caller.tenantId, query, disconnect);
  }

  @Endpoint(ROUTES.listFailures)
  failures(
    @CurrentPrincipal() caller: Principal,
    @RouteQuery() query: QueryOf<typeof ROUTES.listFailures>,
    @ClientDisconnect() disconnect: AbortSignal,
  ): Promise<FailurePage> {
    return this.queries.failures(caller.tenantId, query, disconnect);
  }

  @Endpoint(ROUTES.getUsage)
  usage(
    @CurrentPrincipal() caller: Principal,
    @RouteQuery() query: QueryOf<typeof ROUTES.getUsage>,
    @ClientDisconnect() disconnect: AbortSignal,
  ): Promise<UsagePage> {
    if (query.by === 'tenant' && !caller.scopes.includes('operate'))
      throw new ProblemError('forbidden', 'Usage by tenant is of all tenants: it needs a key with the scope operate');
    return this.queries.usage(caller.tenantId, query, disconnect);
  }

  @Endpoint(ROUTES.testPolicy)
  testPolicy(
    @CurrentPrincipal() caller: Principal,
    @RouteBody() body: BodyOf<typeof ROUTES.testPolicy>,
    @ClientDisconnect() disconnect: AbortSignal,
  ): Promise<PolicyTestResult> {
    return this.policyTest.test(caller, body, disconnect);
  }

  @Endpoint(ROUTES.listSessions)
  sessions(
    @CurrentPrincipal() caller: Principal,
    @RouteQuery() query: QueryOf<typeof ROUTES.listSessions>,
    @ClientDisconnect() disconnect: AbortSignal,
  ): Promise<SessionPage> {
    return this.queries.sessions(caller.tenantId, query, disconnect);
  }
}
