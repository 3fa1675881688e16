import { expect, it } from '@jest/globals';
import { unknownTool } from './unknown-tool.js';

const KNOWN = [
  { name: 'shell', aliases: ['bash'] },
  { name: 'file_read', aliases: [] },
];

it.each([
  ['shel', 'There is no tool "shel" for this key; did you mean shell?'],
  ['Bahs', 'There is no tool "Bahs" for this key; did you mean bash?'],
  ['fileread', 'There is no tool "fileread" for this key; did you mean file_read?'],
  ['kubernetes', 'There is no tool "kubernetes" for this key; `toolyard tools` lists them'],
])('names for the unknown tool %s the nearest one, if one is near', (name, message) =>
  expect(unknownTool(name, KNOWN).message).toBe(message),
);
