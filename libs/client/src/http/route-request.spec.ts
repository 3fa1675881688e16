import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ROUTES } from '#contracts';
import { ToolyardError } from '../toolyard-error.js';
import { urlOf } from './route-request.js';

const pathOf = (id: string) => new URL(`http://127.0.0.1${urlOf(ROUTES.putSession, { params: { id } })}`).pathname;

describe('the path of a request', () => {
  it.each(['.', '..'])('sends no request for the id %s, which would change the path', (id) => {
    expect(() => pathOf(id)).toThrow(ToolyardError);
    expect(() => pathOf(id)).toThrow(`id: expected an id, got "${id}"`);
  });

  it('encodes every other id as one segment of the path', () => {
    const ids = fc
      .oneof(fc.string({ minLength: 1, unit: 'grapheme' }), fc.stringMatching(/^[./\\%2eE]{1,8}$/))
      .filter((id) => !/^\.{1,2}$/.test(id));
    fc.assert(fc.property(ids, (id) => decodeURIComponent(pathOf(id).replace('/v1/sessions/', '')) === id));
  });
});
