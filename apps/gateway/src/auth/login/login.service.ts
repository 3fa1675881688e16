import { Injectable } from '@nestjs/common';
import type { IncomingHttpHeaders } from 'node:http';
import {
  ProblemError,
  type EndLoginsBody,
  type LoginOptions,
  type LoginsEnded,
  type LoginPage,
  type LoginSettings,
  type Me,
  type Principal,
  type SignedOut,
} from '#contracts';
import { sha256Hex } from '#redis';
import { MemoryGuard } from '../../platform/memory-guard.service.js';
import { AdminActs } from '../admin-acts.service.js';
import { ApiKeyStore } from '../api-key-store.service.js';
import { KeysService } from '../keys/keys.service.js';
import { cookieNames, newSecret, readCookie, setCookie } from './login-cookies.js';
import { LoginProvider } from './login-provider.service.js';
import { LoginRecords, STATE_MS } from './login-records.service.js';
import { LoginSessions } from './login-sessions.service.js';
import { assertSameOrigin } from './same-origin.js';

/** Path of a dashboard page. Excludes paths of the API. */
const PAGE = /^\/(?![/\\])(?!(?:v1|mcp)(?:[/?#]|$))[\x21-\x7e]*$/;

/** Path of the page for the return. @throws ProblemError `invalid_request` for anything that leads elsewhere */
function safeReturn(returnTo: string | undefined, origin: string): string {
  if (returnTo === undefined) return '/';
  const target = PAGE.test(returnTo) && !returnTo.includes('\\') && URL.canParse(returnTo, origin) ? new URL(returnTo, origin) : undefined;
  if (target?.origin === origin) return target.pathname + target.search + target.hash;
  const message = 'expected the path of a page of the dashboard, such as /approvals';
  throw new ProblemError('invalid_request', `returnTo: ${message}`, { errors: [{ pointer: '/returnTo', message }] });
}

/** Next location of the browser, and its new cookies. */
export interface Redirect {
  readonly location: string;
  readonly cookies: readonly string[];
}

/** Sign-in, current login, and sign-out. */
@Injectable()
export class LoginService {
  constructor(
    private readonly apiKeys: ApiKeyStore,
    private readonly provider: LoginProvider,
    private readonly records: LoginRecords,
    private readonly sessions: LoginSessions,
    private readonly acts: AdminActs,
    private readonly memory: MemoryGuard,
    private readonly madeKeys: KeysService,
  ) {}

  async options({ cookie }: IncomingHttpHeaders): Promise<LoginOptions> {
    const { login } = this.apiKeys;
    if (login === undefined) return { signedIn: false };
    const own = await this.sessions.findOwn(cookie).catch(() => undefined);
    return { provider: { name: login.name, url: `${this.provider.originOf(login)}/v1/login` }, signedIn: own !== undefined };
  }

  /**
   * Steps: reject while Redis is full → check the return page → read the provider's document → store the values that verify the
   * return → redirect the browser.
   */
  async begin(returnTo: string | undefined): Promise<Redirect> {
    const settings = this.settings();
    this.memory.checkAct();
    const origin = this.provider.originOf(settings);
    const back = safeReturn(returnTo, origin);
    const { url, state, nonce, verifier } = await this.provider.begin(settings);
    const browser = newSecret();
    await redisOr(this.records.begin(state, { nonce, verifier, browserSha256: sha256Hex(browser), returnTo: back }));
    return { location: url.href, cookies: [setCookie(origin, cookieNames(origin).begun, browser, STATE_MS, 'Lax')] };
  }

  /**
   * Steps: take the state, which is valid once → compare the browser → let the provider's answer be verified → derive the
   * rights from the roles → begin the login under a new cookie → record it.
   * @throws ProblemError `unauthenticated` for any mismatch, `forbidden` without a role
   */
  async finish(state: string | undefined, search: string, { cookie }: IncomingHttpHeaders): Promise<Redirect> {
    const settings = this.settings();
    const origin = this.provider.originOf(settings);
    const names = cookieNames(origin);
    const storedState = state === undefined ? undefined : await redisOr(this.records.take(state));
    const browser = readCookie(cookie, names.begun);
    if (state === undefined || storedState === undefined || browser === undefined || sha256Hex(browser) !== storedState.browserSha256)
      throw new ProblemError('unauthenticated', 'This login was not begun in this browser, has been used, or took too long. Begin again.');
    const identified = await this.provider.finish(settings, search, { state, nonce: storedState.nonce, verifier: storedState.verifier });
    const admit = (principal: Principal) => this.acts.admit(principal, { revokes: false });
    const started = await redisOr(this.sessions.start(settings, identified, cookie, admit));
    const { keyId, scopes } = started.principal;
    await started.act.record('admin.signed_in', { target: keyId, after: { scopes } });
    return {
      location: origin + storedState.returnTo,
      cookies: [setCookie(origin, names.login, started.cookie, started.maxAgeMs), setCookie(origin, names.begun, '', 0, 'Lax')],
    };
  }

  /** Ends the login, if there is one. Records the act first: a repetition would not find the login. */
  async signOut(method: string, headers: IncomingHttpHeaders): Promise<SignedOut & { readonly setCookie: string }> {
    const settings = this.settings();
    const origin = this.provider.originOf(settings);
    assertSameOrigin(method, headers, origin);
    await redisOr(
      this.sessions.end(settings, headers.cookie, (principal) =>
        this.acts.admit(principal, { revokes: true }).record('admin.signed_out', { target: principal.keyId }),
      ),
    );
    const providerUrl = await this.provider.signOutUrl(settings);
    return { ...(providerUrl === undefined ? {} : { providerUrl }), setCookie: setCookie(origin, cookieNames(origin).login, '', 0) };
  }

  async me(principal: Principal, { cookie, authorization }: IncomingHttpHeaders): Promise<Me> {
    const own = authorization === undefined ? await this.sessions.findOwn(cookie) : undefined;
    if (own === undefined) return principal;
    const { roles, idleMs, record } = own;
    const { startedAt, endsAt } = record;
    const times = { startedAt: new Date(startedAt).toISOString(), endsAt: new Date(endsAt).toISOString() };
    return { ...principal, login: { roles: [...roles], ...times, idleMs } };
  }

  async list({ tenantId }: Principal): Promise<LoginPage> {
    return { logins: await redisOr(this.records.list(tenantId)) };
  }

  /** Steps: end the logins → revoke the keys, if requested. In this order, since a signed-in person could create another key. */
  async endAll(caller: Principal, { subject, keys }: EndLoginsBody): Promise<LoginsEnded> {
    const { logins } = await this.list(caller);
    const act = this.acts.admit(caller, { revokes: logins.some(({ person }) => person.subject === subject) });
    const ended = await redisOr(this.sessions.endAll(caller.tenantId, subject));
    await act.record('admin.logins_ended', { target: subject, after: { ended } });
    return keys ? { ended, keysRevoked: await this.madeKeys.revokeOf(caller, subject) } : { ended };
  }

  private settings(): LoginSettings {
    const { login } = this.apiKeys;
    if (login === undefined) throw new ProblemError('not_implemented', 'Sign-in with a provider is not configured here: use an API key');
    return login;
  }
}

async function redisOr<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ProblemError) throw error;
    throw new ProblemError('unavailable', 'Logins cannot be stored or read now: try again in a moment. API keys work.', {
      retryAfterMs: 1000,
    });
  }
}
