import type { z } from 'zod';
import { Session, SessionCancelled, SessionPage, Steered, type CancelBody, type ListSessionsQuery, type PutSessionBody } from '#contracts';
import type { RequestOptions } from '../client-options.js';
import type { HttpTransport } from '../http/http-transport.js';
import { pathOf } from './path.js';

/** Sessions: what holds for their calls, a person's word in between, and the stop of everything in one. */
export class SessionsApi {
  constructor(private readonly http: HttpTransport) {}

  /** Sessions that had calls, the latest active first. */
  list(query: Partial<ListSessionsQuery> = {}, options: RequestOptions = {}): Promise<SessionPage> {
    return this.http.json({ method: 'GET', path: '/v1/sessions', query, repeatable: true, ...options }, SessionPage);
  }

  get(sessionId: string, options: RequestOptions = {}): Promise<Session> {
    return this.http.json({ method: 'GET', path: pathOf`/v1/sessions/${sessionId}`, repeatable: true, ...options }, Session);
  }

  /** What is not given stays as it is. */
  put(sessionId: string, body: z.input<typeof PutSessionBody>, options: RequestOptions = {}): Promise<Session> {
    return this.http.json({ method: 'PUT', path: pathOf`/v1/sessions/${sessionId}`, body, repeatable: true, ...options }, Session);
  }

  delete(sessionId: string, options: RequestOptions = {}): Promise<void> {
    return this.http.nothing({ method: 'DELETE', path: pathOf`/v1/sessions/${sessionId}`, repeatable: true, ...options });
  }

  /** Queues a message that comes with the result of a batch. Not repeated by itself: each one counts. */
  steer(sessionId: string, message: string, options: RequestOptions = {}): Promise<Steered> {
    const path = pathOf`/v1/sessions/${sessionId}/steer`;
    return this.http.json({ method: 'POST', path, body: { message }, repeatable: false, ...options }, Steered);
  }

  cancel(sessionId: string, body: z.input<typeof CancelBody> = {}, options: RequestOptions = {}): Promise<SessionCancelled> {
    const path = pathOf`/v1/sessions/${sessionId}/cancel`;
    return this.http.json({ method: 'POST', path, body, repeatable: true, ...options }, SessionCancelled);
  }
}
