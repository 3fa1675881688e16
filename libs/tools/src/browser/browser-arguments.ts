import { z } from 'zod';

export const input = z.strictObject({
  action: z
    .enum([
      'open',
      'snapshot',
      'click',
      'fill',
      'type',
      'press',
      'hover',
      'scroll',
      'wait',
      'get_text',
      'get_title',
      'get_url',
      'is_visible',
      'find',
      'screenshot',
      'close',
    ])
    .describe('What to do with the page of this session. Begin with open; snapshot shows what can be clicked and filled.'),
  url: z.string().min(1).max(8_192).optional().describe('open: http or https URL.'),
  selector: z
    .string()
    .min(1)
    .max(1_000)
    .optional()
    .describe('Element: "@e5" as the last snapshot shows it, or a selector of CSS or Playwright such as "#login" or "text=Next".'),
  value: z.string().max(100_000).optional().describe('fill: the new content; of a list, the option. find: what to look for.'),
  text: z.string().max(10_000).optional().describe('type: keys to type one by one. wait: text that must appear.'),
  key: z.string().min(1).max(100).optional().describe('press: "Enter", "Tab", "Control+A", ...'),
  direction: z.enum(['up', 'down', 'left', 'right']).optional().describe('scroll: where to; down by default.'),
  pixels: z.number().int().min(1).max(100_000).optional().describe('scroll: how far; 600 by default.'),
  ms: z.number().int().min(0).max(15_000).optional().describe('wait: milliseconds; 1,000 by default.'),
  interactive_only: z.boolean().default(false).describe('snapshot: only what can be clicked or filled.'),
  compact: z.boolean().default(false).describe('snapshot: without addresses, images and elements that only group others.'),
  depth: z.number().int().min(1).max(100).optional().describe('snapshot: how deep.'),
  full_page: z.boolean().default(false).describe('screenshot: the whole page, at most 8,000 pixels high.'),
  by: z.enum(['role', 'text', 'label', 'placeholder', 'testid']).optional().describe('find: what value is; text by default.'),
  find_action: z.enum(['text', 'click', 'fill', 'hover', 'check']).optional().describe('find: what to do with the element; text shows it.'),
  fill_value: z.string().max(100_000).optional().describe('find with find_action fill: the new content.'),
});
export type BrowserArguments = z.output<typeof input>;

/** Required arguments of each action. */
export const NEEDED: Partial<Record<BrowserArguments['action'], readonly ('url' | 'selector' | 'value' | 'text' | 'key')[]>> = {
  open: ['url'],
  click: ['selector'],
  fill: ['selector', 'value'],
  type: ['selector', 'text'],
  press: ['key'],
  hover: ['selector'],
  is_visible: ['selector'],
  find: ['value'],
};
