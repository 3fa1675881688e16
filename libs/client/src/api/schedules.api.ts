import { ROUTES, type BodyInputOf, type Call, type Schedule, type SchedulePreview } from '#contracts';
import type { RequestOptions } from '../client-options.js';
import type { HttpTransport } from '../http/http-transport.js';

/** Schedules, which submit calls at due times. */
export class SchedulesApi {
  constructor(private readonly http: HttpTransport) {}

  /** Not retried: a second request would create a second schedule. */
  create(body: BodyInputOf<typeof ROUTES.createSchedule>, options: RequestOptions = {}): Promise<Schedule> {
    return this.http.request(ROUTES.createSchedule, { body, ...options });
  }

  /** Next due times of a schedule, which is not created. */
  preview(body: BodyInputOf<typeof ROUTES.previewSchedule>, options: RequestOptions = {}): Promise<SchedulePreview> {
    return this.http.request(ROUTES.previewSchedule, { body, ...options });
  }

  async list(options: RequestOptions = {}): Promise<Schedule[]> {
    return (await this.http.request(ROUTES.listSchedules, options)).schedules;
  }

  get(id: string, options: RequestOptions = {}): Promise<Schedule> {
    return this.http.request(ROUTES.getSchedule, { params: { id }, ...options });
  }

  delete(id: string, options: RequestOptions = {}): Promise<void> {
    return this.http.send(ROUTES.deleteSchedule, { params: { id }, ...options });
  }

  pause(id: string, options: RequestOptions = {}): Promise<Schedule> {
    return this.http.request(ROUTES.pauseSchedule, { params: { id }, ...options });
  }

  resume(id: string, options: RequestOptions = {}): Promise<Schedule> {
    return this.http.request(ROUTES.resumeSchedule, { params: { id }, ...options });
  }

  /** Submits the call at once. Not retried: a second request would create a second call. */
  run(id: string, options: RequestOptions = {}): Promise<Call> {
    return this.http.request(ROUTES.runSchedule, { params: { id }, ...options });
  }
}
