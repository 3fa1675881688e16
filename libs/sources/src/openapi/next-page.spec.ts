import { describe, expect, it } from '@jest/globals';
import type { Parameter } from './operation.js';
import { nextPage } from './next-page.js';

const parameter = (name: string, type: string): Parameter => ({
  in: 'query',
  name,
  argument: name,
  style: 'form',
  explode: true,
  required: false,
  json: false,
  schema: { type },
});
const asked = (parameters: readonly Parameter[]) => ({
  operation: { parameters },
  url: new URL('https://api.example.com/pets?kind=dog&page=1'),
});
const PAGED = asked([
  parameter('page', 'integer'),
  parameter('kind', 'string'),
  parameter('cursor', 'string'),
  parameter('pageToken', 'string'),
]);
const link = (url: string) => new Headers({ link: `<${url}>; rel="next", <https://api.example.com/pets?page=9>; rel="last"` });
const NONE = new Headers();

describe('nextPage', () => {
  it.each([
    ['the Link header', link('https://api.example.com/pets?kind=dog&page=2'), {}, { page: 2 }],
    ['a relative Link header', link('/pets?page=2&kind=dog'), {}, { page: 2 }],
    ['a field with an address', NONE, { next: 'https://api.example.com/pets?kind=dog&page=3' }, { page: 3 }],
    ['a link of HAL', NONE, { _links: { next: { href: '/pets?page=4&kind=dog' } } }, { page: 4 }],
    ['a cursor', NONE, { meta: { next_cursor: 'abc' } }, { cursor: 'abc' }],
    ['a token', NONE, { nextPageToken: 'abc' }, { pageToken: 'abc' }],
    ['the number of a page', NONE, { pagination: { next_page: 2 } }, { page: 2 }],
  ])('gives the arguments of the next page by %s', (_what, headers, json, args) => {
    expect(nextPage(headers, json, PAGED)).toMatchObject({ args });
  });

  it.each([
    ['is at another host', link('https://evil.example/pets?page=2')],
    ['is at another path', link('https://api.example.com/users?page=2')],
    ['needs a parameter that the operation does not have', link('https://api.example.com/pets?page=2&session=x')],
    ['has a value of another type', link('https://api.example.com/pets?page=two')],
  ])('states only where the next page is if it %s', (_what, headers) => {
    expect(nextPage(headers, {}, PAGED)).toEqual({ next: expect.any(String) });
  });

  it.each([
    ['nothing', {}],
    ['null', { next: null }],
    ['an empty cursor', { next_cursor: '' }],
    ['a list', { next: ['a'] }],
    ['a long text', { next_cursor: 'x'.repeat(501) }],
  ])('sees no next page in %s', (_what, json) => {
    expect(nextPage(NONE, json, PAGED)).toBeUndefined();
  });
});
