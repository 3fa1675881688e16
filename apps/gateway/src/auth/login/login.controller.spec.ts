import { expect, it } from '@jest/globals';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ProblemError } from '#contracts';
import { trustedProxies } from '../../platform/http/client-address.js';
import { LoginController } from './login.controller.js';
import type { LoginService } from './login.service.js';

it('limits logins from one address to 120 a minute', async () => {
  let begun = 0;
  const begin = () => Promise.resolve({ location: `/?${(begun += 1)}`, cookies: [] });
  const parts: unknown[] = [{ begin } satisfies Pick<LoginService, 'begin'>, { trustedProxies: trustedProxies([]) }];
  const controller = new LoginController(...(parts as ConstructorParameters<typeof LoginController>));
  const reply = { header: () => reply, redirect: () => reply };
  const ask = (remoteAddress: string) => {
    const request = { raw: { headers: {}, socket: { remoteAddress } }, headers: {} };
    return controller.start({}, request as unknown as FastifyRequest, reply as unknown as FastifyReply);
  };
  for (let index = 0; index < 120; index += 1) await ask('192.0.2.1');
  await expect(ask('192.0.2.1')).rejects.toMatchObject({ code: 'too_many_requests' } satisfies Partial<ProblemError>);
  await ask('192.0.2.2');
  expect(begun).toBe(121);
});
