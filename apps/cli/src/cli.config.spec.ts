import { describe, expect, it } from '@jest/globals';
import { mistypedVariables, readCliConfig } from './cli.config.js';

describe('the variables of the command line tool', () => {
  it('names a mistyped variable of the command line tool, also beside the right one, and none where another is meant', () => {
    const said = 'The variable TOOLYARD_URLL is not known: did you mean TOOLYARD_URL? It has no effect as it is.';
    expect(mistypedVariables({ TOOLYARD_URLL: 'x', TOOLYARD_TOOLS: 'y', TOOLYARD_CONFIG: 'z' })).toEqual([said]);
    expect(mistypedVariables({ TOOLYARD_URLL: 'x', TOOLYARD_URL: 'y' })).toEqual([said.replace('URL?', 'URL, which is set?')]);
  });

  it('says where the key may be when there is none', () => {
    const folder = { TOOLYARD_DATA: '/nonexistent' };
    expect(() => readCliConfig({}, folder)).toThrow(/No API key: give --key, or set TOOLYARD_API_KEY/);
  });
});
