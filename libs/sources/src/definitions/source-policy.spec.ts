import { expect, it } from '@jest/globals';
import { EgressPolicy } from '#sandbox';
import { sourcePolicy } from './source-policy.js';

const worker = new EgressPolicy(['10.0.0.7:8080', 'intranet']);
const faultOf = (policy: EgressPolicy, url: string) => {
  try {
    policy.check(url);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

it.each([
  { egress: undefined, allowed: ['https://any.example', 'http://intranet/'], blocked: ['http://10.0.0.8/'] },
  { egress: [], allowed: [], blocked: ['https://any.example', 'http://intranet/'] },
  {
    egress: ['*.example'],
    allowed: ['https://any.example/a'],
    blocked: ['https://example.org', 'https://any.example:8443', 'http://intranet/'],
  },
  { egress: ['10.0.0.7:8080', '10.0.0.8'], allowed: ['http://10.0.0.7:8080/'], blocked: ['http://10.0.0.8/', 'http://10.0.0.7/'] },
])('limits requests of a source to $egress hosts within those of the worker', ({ egress, allowed, blocked }) => {
  for (const url of ['https://api.example.com/v1', 'https://[2606:4700::1111]/v1']) {
    const policy = sourcePolicy(worker, { origin: 'api', urls: [url], egress });
    for (const reached of [url, ...allowed]) expect([reached, faultOf(policy, reached)]).toEqual([reached, undefined]);
    for (const refused of blocked) expect([refused, faultOf(policy, refused)]).toEqual([refused, expect.stringMatching(/^Blocked: /)]);
  }
});

it('allows private hosts only to sources of the config file, for any egress', () => {
  const urls = ['http://10.0.0.9/'];
  expect(faultOf(sourcePolicy(worker, { origin: 'config', urls, egress: [] }), 'http://10.0.0.9/a')).toBeUndefined();
  expect(() => sourcePolicy(worker, { origin: 'api', urls, egress: ['10.0.0.9'] })).toThrow(/^Blocked: 10\.0\.0\.9 is/);
});
