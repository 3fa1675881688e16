import { Body, Controller, Get, Headers, HttpCode, Post, Query } from '@nestjs/common';
import {
  BulkCancelBody,
  BulkReplayBody,
  CallFilter,
  ListCallsQuery,
  ListSessionsQuery,
  PeriodQuery,
  StatsQuery,
  type BulkResult,
  type CallCount,
  type CallPage,
  type FailurePage,
  type Principal,
  type SessionPage,
  type Stats,
  type ToolStatsPage,
} from '#contracts';
import { CallIndex, Numbers, SessionList } from '#projection';
import { BulkCallsService } from './bulk-calls.service.js';
import { CurrentPrincipal, RequireScope } from '../auth/principal.decorator.js';
import { parse } from '../platform/http/parse.js';
import { submitOptions, type SubmitHeaders } from './submit-headers.js';

/** Questions over many calls: lists, counts, numbers, failures, sessions; and changes to all calls of a filter. */
@Controller('v1')
export class QueriesController {
  constructor(
    private readonly index: CallIndex,
    private readonly sessionList: SessionList,
    private readonly numbers: Numbers,
    private readonly bulk: BulkCallsService,
  ) {}

  @RequireScope('read')
  @Get('calls')
  list(@CurrentPrincipal() caller: Principal, @Query() query: unknown): Promise<CallPage> {
    return this.index.page(caller.tenantId, parse(ListCallsQuery, query, 'query'));
  }

  @RequireScope('read')
  @Get('calls::count')
  count(@CurrentPrincipal() caller: Principal, @Query() query: unknown): Promise<CallCount> {
    return this.index.count(caller.tenantId, parse(CallFilter, query, 'query'));
  }

  @RequireScope('cancel')
  @Post('calls::cancel')
  @HttpCode(200)
  cancel(@CurrentPrincipal() caller: Principal, @Body() body: unknown): Promise<BulkResult> {
    return this.bulk.cancel(caller, parse(BulkCancelBody, body, 'body'));
  }

  @RequireScope('submit')
  @Post('calls::replay')
  @HttpCode(200)
  replay(@CurrentPrincipal() caller: Principal, @Body() body: unknown, @Headers() headers: SubmitHeaders): Promise<BulkResult> {
    return this.bulk.replay(caller, parse(BulkReplayBody, body, 'body'), submitOptions(headers).idempotencyKey);
  }

  @RequireScope('read')
  @Get('stats')
  stats(@CurrentPrincipal() caller: Principal, @Query() query: unknown): Promise<Stats> {
    return this.numbers.stats(caller.tenantId, parse(StatsQuery, query, 'query'));
  }

  @RequireScope('read')
  @Get('stats/tools')
  tools(@CurrentPrincipal() caller: Principal, @Query() query: unknown): Promise<ToolStatsPage> {
    return this.numbers.tools(caller.tenantId, parse(PeriodQuery, query, 'query'));
  }

  @RequireScope('read')
  @Get('failures')
  failures(@CurrentPrincipal() caller: Principal, @Query() query: unknown): Promise<FailurePage> {
    return this.numbers.failures(caller.tenantId, parse(PeriodQuery, query, 'query'));
  }

  @RequireScope('read')
  @Get('sessions')
  sessions(@CurrentPrincipal() caller: Principal, @Query() query: unknown): Promise<SessionPage> {
    return this.sessionList.page(caller.tenantId, parse(ListSessionsQuery, query, 'query'));
  }
}
