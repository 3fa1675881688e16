import { Body, Controller, Get, HttpCode, Post, Query } from '@nestjs/common';
import {
  BulkCancelBody,
  BulkReplayBody,
  CallFilter,
  ListCallsQuery,
  ListSessionsQuery,
  PeriodQuery,
  ProblemError,
  StatsQuery,
  type Call,
  type CallPage,
  type CallSummary,
  type Principal,
} from '#contracts';
import { CallStore } from '#event-log';
import { Caller, Needs } from './caller.decorator.js';
import { parse } from './parse.js';

const SCANNED = new Set(['status', 'outcome', 'tool', 'sessionId', 'agentId', 'since', 'until', 'q', 'cursor', 'limit']);

/** Questions over many calls: lists, counts, numbers, failures, sessions, and changes to all calls of a filter. */
@Controller('v1')
export class QueriesController {
  constructor(private readonly store: CallStore) {}

  @Needs('read')
  @Get('calls')
  async list(@Caller() caller: Principal, @Query() query: unknown): Promise<CallPage> {
    const wanted = parse(ListCallsQuery, query, 'query');
    if (Object.keys(wanted).some((key) => !SCANNED.has(key))) throw later();
    const { calls, ...page } = await this.store.list(caller.tenantId, wanted);
    return { ...page, calls: await Promise.all(calls.map((call) => this.summary(call))) };
  }

  @Needs('read')
  @Get('calls::count')
  count(@Query() query: unknown): never {
    parse(CallFilter, query, 'query');
    throw later();
  }

  @Needs('cancel')
  @Post('calls::cancel')
  @HttpCode(200)
  cancel(@Body() body: unknown): never {
    parse(BulkCancelBody, body, 'body');
    throw later();
  }

  @Needs('submit')
  @Post('calls::replay')
  @HttpCode(200)
  replay(@Body() body: unknown): never {
    parse(BulkReplayBody, body, 'body');
    throw later();
  }

  @Needs('read')
  @Get('stats')
  stats(@Query() query: unknown): never {
    parse(StatsQuery, query, 'query');
    throw later();
  }

  @Needs('read')
  @Get('stats/tools')
  tools(@Query() query: unknown): never {
    parse(PeriodQuery, query, 'query');
    throw later();
  }

  @Needs('read')
  @Get('failures')
  failures(@Query() query: unknown): never {
    parse(PeriodQuery, query, 'query');
    throw later();
  }

  @Needs('read')
  @Get('sessions')
  sessions(@Query() query: unknown): never {
    parse(ListSessionsQuery, query, 'query');
    throw later();
  }

  private async summary(call: Call): Promise<CallSummary> {
    const { id, tool, status, outcome, error, attempt, priority, sessionId, agentId, batchId, parentCallId, replayOf, labels } = call;
    const { submittedAt, startedAt, endedAt } = call;
    const head = await this.store.head(id);
    return {
      id,
      tool,
      status,
      outcome,
      attempt,
      priority,
      sessionId,
      agentId,
      batchId,
      parentCallId,
      replayOf,
      labels,
      submittedAt,
      startedAt,
      endedAt,
      error: error && { code: error.code, message: error.message },
      pool: head?.pool ?? 'read',
      retrying: status === 'queued' && attempt > 0,
      preview: JSON.stringify(call.arguments).slice(0, 200),
    };
  }
}

function later(): ProblemError {
  return new ProblemError('not_implemented', 'This route belongs to the public contract and is not there yet');
}
