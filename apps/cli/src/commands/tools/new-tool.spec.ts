import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { LANGUAGES, newTool } from './new-tool.js';

const folder = mkdtempSync(join(tmpdir(), 'toolyard-new-tool-'));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it.each(LANGUAGES)('writes in %s a new tool that is named and described after itself', async (lang) => {
  const notes: string[] = [];
  await newTool({ terminal: { note: (text: string) => notes.push(text) } as never }, 'word_count', { lang, folder });
  const texts = readdirSync(join(folder, 'word_count')).map((file) => readFileSync(join(folder, 'word_count', file), 'utf8'));
  expect(texts.join('')).not.toMatch(/greet|Ada|TOOL_NAME/i);
  const { name, description, input } = parse(readFileSync(join(folder, 'word_count/tool.yaml'), 'utf8')) as Record<string, object>;
  expect([name, description]).toEqual(['word_count', expect.stringMatching(/^Word count\. Say here what it does/)]);
  expect(input).toMatchObject({ required: ['text'] });
  expect(texts.filter((text) => text.includes('word_count: ')).length).toBeGreaterThan(1);
  expect(notes.join('\n')).toContain('toolyard call word_count text=hello');
});
