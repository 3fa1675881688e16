import type { ToolExample } from '#contracts';

/** A file for examples of tools that read one, and the calls that make it. */
export const EXAMPLE_FILE = 'example/notes.md';
export const EXAMPLE_SETUP: ToolExample['setup'] = [
  { tool: 'file_write', arguments: { path: EXAMPLE_FILE, content: '# Notes\n\nTODO: choose a colour\nThe colour is blue.\n' } },
];
