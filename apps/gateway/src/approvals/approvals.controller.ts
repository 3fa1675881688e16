import { Controller, Param } from '@nestjs/common';
import { ROUTES, type ApprovalPage, type BodyOf, type Call, type Principal, type QueryOf } from '#contracts';
import { Endpoint, RouteBody, RouteQuery } from '../auth/endpoint.decorator.js';
import { CurrentPrincipal } from '../auth/principal.decorator.js';
import { parseCallId } from '../platform/http/parse.js';
import { DecideApprovalService } from './decide-approval.service.js';
import { ListApprovalsService } from './list-approvals.service.js';

/** Calls that wait for a person, and decisions about them. */
@Controller()
export class ApprovalsController {
  constructor(
    private readonly listApprovals: ListApprovalsService,
    private readonly decideApproval: DecideApprovalService,
  ) {}

  @Endpoint(ROUTES.listApprovals)
  approvals(@CurrentPrincipal() caller: Principal, @RouteQuery() query: QueryOf<typeof ROUTES.listApprovals>): Promise<ApprovalPage> {
    return this.listApprovals.list(caller, query);
  }

  @Endpoint(ROUTES.decideApproval)
  decide(
    @CurrentPrincipal() caller: Principal,
    @Param('id') id: string,
    @RouteBody() body: BodyOf<typeof ROUTES.decideApproval>,
  ): Promise<Call> {
    return this.decideApproval.decide(caller, parseCallId(id), body);
  }
}
