import { describe, expect, it } from '@jest/globals';
import { RouteTable } from './route-table.js';

describe('the route table', () => {
  it('finds the methods of a path, with parameters, literal colons and queries', () => {
    const table = new RouteTable();
    table.record({ url: '/v1/calls/:id', method: 'GET' });
    table.record({ url: '/v1/calls::quote', method: 'POST' });
    table.record({ url: '/v1/calls/:id', method: ['PUT', 'GET'] });
    expect(table.methodsOf('/v1/calls/7?wait=1')).toEqual(['GET', 'PUT']);
    expect(table.methodsOf('/v1/calls:quote')).toEqual(['POST']);
    expect(table.methodsOf('/v1/calls/7/events')).toEqual([]);
    expect(table.methodsOf('/v1/callsXquote')).toEqual([]);
  });
});
