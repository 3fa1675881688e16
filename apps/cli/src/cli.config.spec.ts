import { describe, expect, it } from '@jest/globals';
import { mistypedVariables, readCliConfig } from './cli.config.js';

describe('the variables of the command line tool', () => {
  it('warns of a mistyped variable of the command line tool even beside the right one, but not of a variable of another program', () => {
    const said = 'The variable TOOLYARD_URLL is not known: did you mean TOOLYARD_URL? It has no effect as it is.';
    expect(mistypedVariables({ TOOLYARD_URLL: 'x', TOOLYARD_TOOLS: 'y', TOOLYARD_CONFIG: 'z' })).toEqual([said]);
    expect(mistypedVariables({ TOOLYARD_URLL: 'x', TOOLYARD_URL: 'y' })).toEqual([said.replace('URL?', 'URL, which is set?')]);
  });

  it('lists where a key is looked for when none is found', () => {
    const folder = { TOOLYARD_DATA: '/nonexistent' };
    expect(() => readCliConfig({}, folder)).toThrow(/No API key: give --key, or set TOOLYARD_API_KEY/);
  });
});
