import { describe, expect, it } from '@jest/globals';
import { mistypedVariables } from './mistyped-variables.js';

const KNOWN = ['REDIS_URL', 'GATEWAY_PORT', 'TOOLYARD_DATA', 'BROWSER'];

describe('mistypedVariables', () => {
  it('names a variable that is a typing error away from one that is not set', () => {
    expect(mistypedVariables({ REDIS_ULR: 'redis://x', GATEWAY_PROT: '1', toolyard_data: 'x', PATH: '/bin' }, KNOWN)).toEqual([
      'The variable GATEWAY_PROT is not known: did you mean GATEWAY_PORT? It has no effect as it is.',
      'The variable REDIS_ULR is not known: did you mean REDIS_URL? It has no effect as it is.',
      'The variable toolyard_data is not known: did you mean TOOLYARD_DATA? It has no effect as it is.',
    ]);
  });

  it('names a variable of Toolyard that is a typing error away also beside the right one', () => {
    expect(mistypedVariables({ GATEWAY_PROT: '7412', GATEWAY_PORT: '7411', TOOLYARD_DATE: 'x', TOOLYARD_DATA: 'y' }, KNOWN)).toEqual([
      'The variable GATEWAY_PROT is not known: did you mean GATEWAY_PORT, which is set? It has no effect as it is.',
      'The variable TOOLYARD_DATE is not known: did you mean TOOLYARD_DATA, which is set? It has no effect as it is.',
    ]);
  });

  it('ignores known variables, those of other programs, and those that Kubernetes sets for services', () => {
    const env = {
      REDIS_URL: 'redis://x',
      REDIS_URI: 'x',
      REDIS_HOST: 'x',
      GATEWAY_PORT_80_TCP: 'x',
      TOOLYARD_SERVICE_HOST: 'x',
      BROWSERS: '',
    };
    expect(mistypedVariables({ ...env, BROWSER: 'off' }, KNOWN)).toEqual([]);
  });
});
