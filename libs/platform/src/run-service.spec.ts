import { describe, expect, it } from '@jest/globals';
import { startupFailure } from './run-service.js';
import { StartupError } from './startup-error.js';

const NAMES = { what: 'gateway', port: 'GATEWAY_PORT', host: 'GATEWAY_HOST' };

describe('what a failed start prints', () => {
  it('prints the sentence of a StartupError alone', () => {
    expect(startupFailure(new StartupError('Start Redis.'), NAMES)).toBe('Start Redis.');
  });

  it('names the variable of a port that is in use', () => {
    expect(startupFailure(Object.assign(new Error('listen'), { code: 'EADDRINUSE' }), NAMES)).toMatch(/port is in use.*GATEWAY_PORT/);
  });

  it('begins the stack of a programming error with a sentence', () => {
    const [first, second, ...stack] = startupFailure(new TypeError('x is no function'), NAMES).split('\n');
    expect(first).toBe('The gateway cannot start because of an unexpected error: x is no function.');
    expect(second).toMatch(/^Report it/);
    expect(stack[0]).toBe('TypeError: x is no function');
  });
});
