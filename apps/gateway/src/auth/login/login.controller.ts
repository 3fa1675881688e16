import { Controller, Inject, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import {
  ProblemError,
  ROUTES,
  type BodyOf,
  type LoginOptions,
  type LoginPage,
  type LoginsEnded,
  type Me,
  type Principal,
  type QueryOf,
  type SignedOut,
} from '#contracts';
import { GATEWAY_CONFIG, type GatewayConfig } from '../../platform/gateway.config.js';
import { clientAddress } from '../../platform/http/client-address.js';
import { toProblem } from '../../platform/http/to-problem.js';
import { Endpoint, RouteBody, RouteQuery } from '../endpoint.decorator.js';
import { CurrentPrincipal } from '../principal.decorator.js';
import { loginRefusalPage, REFUSAL_POLICY } from './login-refusal-page.js';
import { LoginService, type Redirect } from './login.service.js';

/** Most logins that one address may begin or finish in a minute at one gateway, since each is stored for a while. */
const PER_MINUTE = 120;

/** HTTP controller: cookies, redirects and the pages of failed logins. */
@Controller()
export class LoginController {
  private readonly attempts = new RateLimiterMemory({ points: PER_MINUTE, duration: 60 });

  constructor(
    private readonly logins: LoginService,
    @Inject(GATEWAY_CONFIG) private readonly config: Pick<GatewayConfig, 'trustedProxies'>,
  ) {}

  @Endpoint(ROUTES.startLogin)
  async start(
    @RouteQuery() { returnTo }: QueryOf<typeof ROUTES.startLogin>,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await this.redirect(request, reply, () => this.logins.begin(returnTo));
  }

  @Endpoint(ROUTES.finishLogin)
  async finish(
    @RouteQuery() { state }: QueryOf<typeof ROUTES.finishLogin>,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const at = request.url.indexOf('?');
    const search = at < 0 ? '' : request.url.slice(at);
    await this.redirect(request, reply, () => this.logins.finish(state, search, request.headers));
  }

  @Endpoint(ROUTES.loginOptions)
  options(@Req() { headers }: FastifyRequest): Promise<LoginOptions> {
    return this.logins.options(headers);
  }

  @Endpoint(ROUTES.signOut)
  async signOut(@Req() { method, headers }: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply): Promise<SignedOut> {
    const { setCookie, ...answer } = await this.logins.signOut(method, headers);
    reply.header('Set-Cookie', setCookie);
    return answer;
  }

  @Endpoint(ROUTES.getMe)
  me(@CurrentPrincipal() caller: Principal, @Req() { headers }: FastifyRequest): Promise<Me> {
    return this.logins.me(caller, headers);
  }

  @Endpoint(ROUTES.listLogins)
  list(@CurrentPrincipal() caller: Principal): Promise<LoginPage> {
    return this.logins.list(caller);
  }

  @Endpoint(ROUTES.endLogins)
  endAll(@CurrentPrincipal() caller: Principal, @RouteBody() body: BodyOf<typeof ROUTES.endLogins>): Promise<LoginsEnded> {
    return this.logins.endAll(caller, body);
  }

  /** Sends browsers a page about the error, and programs the problem. */
  private async redirect(request: FastifyRequest, reply: FastifyReply, act: () => Promise<Redirect>): Promise<void> {
    try {
      await this.attempts.consume(clientAddress(request.raw, this.config.trustedProxies)).catch(() => {
        throw new ProblemError('too_many_requests', `An address may begin ${PER_MINUTE} logins a minute`, { retryAfterMs: 60_000 });
      });
      const { location, cookies } = await act();
      reply.header('Set-Cookie', [...cookies]).redirect(location, 302);
    } catch (error) {
      const problem = toProblem(error);
      if (!(request.headers.accept ?? '').includes('text/html')) throw problem;
      const problemTitle = problem.toProblem().title;
      reply
        .status(problem.status)
        .header('Content-Security-Policy', REFUSAL_POLICY)
        .type('text/html; charset=utf-8')
        .send(loginRefusalPage({ code: problem.code, detail: problem.detail, problemTitle }));
    }
  }
}
