import { Controller, Param, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { ROUTES, ScheduleId, type BodyOf, type Call, type Principal, type Schedule, type SchedulePreview } from '#contracts';
import { Endpoint, RouteBody } from '../auth/endpoint.decorator.js';
import { CurrentPrincipal } from '../auth/principal.decorator.js';
import { ZodPipe } from '../platform/http/zod.pipe.js';
import { SchedulesService } from './schedules.service.js';

const ID = new ZodPipe(ScheduleId);

/** HTTP controller of schedules, which submit calls at due times. */
@Controller()
export class SchedulesController {
  constructor(private readonly schedules: SchedulesService) {}

  @Endpoint(ROUTES.createSchedule)
  async create(
    @CurrentPrincipal() caller: Principal,
    @RouteBody() body: BodyOf<typeof ROUTES.createSchedule>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Schedule> {
    const schedule = await this.schedules.create(caller, body);
    reply.header('Location', `/v1/schedules/${schedule.id}`);
    return schedule;
  }

  @Endpoint(ROUTES.previewSchedule)
  preview(@RouteBody() body: BodyOf<typeof ROUTES.previewSchedule>): SchedulePreview {
    return this.schedules.preview(body);
  }

  @Endpoint(ROUTES.listSchedules)
  async list(@CurrentPrincipal() caller: Principal): Promise<{ schedules: Schedule[] }> {
    return { schedules: await this.schedules.list(caller) };
  }

  @Endpoint(ROUTES.getSchedule)
  get(@CurrentPrincipal() caller: Principal, @Param('id', ID) id: string): Promise<Schedule> {
    return this.schedules.get(caller, id);
  }

  @Endpoint(ROUTES.deleteSchedule)
  delete(@CurrentPrincipal() caller: Principal, @Param('id', ID) id: string): Promise<void> {
    return this.schedules.delete(caller, id);
  }

  @Endpoint(ROUTES.pauseSchedule)
  pause(@CurrentPrincipal() caller: Principal, @Param('id', ID) id: string): Promise<Schedule> {
    return this.schedules.pause(caller, id);
  }

  @Endpoint(ROUTES.resumeSchedule)
  resume(@CurrentPrincipal() caller: Principal, @Param('id', ID) id: string): Promise<Schedule> {
    return this.schedules.resume(caller, id);
  }

  @Endpoint(ROUTES.runSchedule)
  async run(
    @CurrentPrincipal() caller: Principal,
    @Param('id', ID) id: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Call> {
    const call = await this.schedules.run(caller, id);
    reply.header('Location', `/v1/calls/${call.id}`);
    return call;
  }
}
