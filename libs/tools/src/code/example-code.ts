import type { ToolExample } from '#contracts';

/** A source file for examples, and the call that makes it. */
export const EXAMPLE_SETUP: ToolExample['setup'] = [
  {
    tool: 'file_write',
    arguments: { path: 'example/app.ts', content: "export class AppTool {\n  run(): void {\n    console.log('run');\n  }\n}\n" },
  },
];
