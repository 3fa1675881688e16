import {
  ROUTES,
  type BodyInputOf,
  type QueryInputOf,
  type Session,
  type SessionCancelled,
  type SessionPage,
  type SessionMessages,
  type Steered,
} from '#contracts';
import type { RequestOptions } from '../client-options.js';
import type { HttpTransport } from '../http/http-transport.js';

/** Sessions: settings, messages to their agents, and the cancel of everything in one. */
export class SessionsApi {
  constructor(private readonly http: HttpTransport) {}

  /** Sessions with calls, the latest active first. */
  list(query: QueryInputOf<typeof ROUTES.listSessions> = {}, options: RequestOptions = {}): Promise<SessionPage> {
    return this.http.request(ROUTES.listSessions, { query, ...options });
  }

  get(sessionId: string, options: RequestOptions = {}): Promise<Session> {
    return this.http.request(ROUTES.getSession, { params: { id: sessionId }, ...options });
  }

  /** Changes the given fields; others keep their value. */
  put(sessionId: string, body: BodyInputOf<typeof ROUTES.putSession>, options: RequestOptions = {}): Promise<Session> {
    return this.http.request(ROUTES.putSession, { params: { id: sessionId }, body, ...options });
  }

  delete(sessionId: string, options: RequestOptions = {}): Promise<void> {
    return this.http.send(ROUTES.deleteSession, { params: { id: sessionId }, ...options });
  }

  /** Queues a message that comes with the result of a batch. Not retried: each request queues one. */
  steer(sessionId: string, message: string, options: RequestOptions = {}): Promise<Steered> {
    return this.http.request(ROUTES.steerSession, { params: { id: sessionId }, body: { message }, ...options });
  }

  /** Messages of people to the session, oldest first. */
  steering(sessionId: string, options: RequestOptions = {}): Promise<SessionMessages> {
    return this.http.request(ROUTES.listSteering, { params: { id: sessionId }, ...options });
  }

  cancel(sessionId: string, body: BodyInputOf<typeof ROUTES.cancelSession> = {}, options: RequestOptions = {}): Promise<SessionCancelled> {
    return this.http.request(ROUTES.cancelSession, { params: { id: sessionId }, body, ...options });
  }
}
