import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ToolName } from '#contracts';
import type { CommandContext } from '../../command-context.js';
import { UsageError } from '../../usage-error.js';

export const LANGUAGES = ['python', 'node', 'bash'] as const;
export type Language = (typeof LANGUAGES)[number];

export interface NewToolFlags {
  readonly lang: Language;
  readonly folder: string;
}

/** Writes a working folder tool with a test. Never overwrites. */
export async function newTool(
  { terminal }: Pick<CommandContext, 'terminal'>,
  name: string,
  { lang, folder }: NewToolFlags,
): Promise<number> {
  if (!ToolName.safeParse(name).success)
    throw new UsageError(`Expected a letter, then at most 63 letters, digits, _ or -, got ${JSON.stringify(name)}`);
  const target = join(folder, name);
  if (existsSync(target)) throw new UsageError(`${target} exists already: choose another name`);
  const { files, run, test } = TEMPLATES[lang];
  mkdirSync(target, { recursive: true });
  writeFileSync(join(target, 'tool.yaml'), description(name, run));
  for (const [file, text] of Object.entries(files)) {
    writeFileSync(join(target, file), text.replaceAll(NAME, name));
    chmodSync(join(target, file), 0o755);
  }
  terminal.note(`Wrote ${target}. Its test: ${test(target)}`);
  terminal.note(`Start Toolyard with it: TOOLYARD_TOOLS=${JSON.stringify(folder)} npm start`);
  terminal.note(`Then call it: toolyard call ${name} text=hello`);
  terminal.note('Change tool.yaml and the program as you like: while Toolyard runs, a change holds at once.');
  return 0;
}

/** Placeholder in the templates for the name of the tool. */
const NAME = 'TOOL_NAME';

/** `word_count` → `Word count`. */
function titleOf(name: string): string {
  const words = name.replaceAll(/[_-]+/g, ' ').trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const description = (name: string, run: readonly string[]) => `name: ${name}
description: ${titleOf(name)}. Say here what it does, when to use it and what it returns. Refuses an empty text.
input:
  type: object
  properties:
    text: { type: string, description: Say here what it is. }
  required: [text]
  additionalProperties: false
tier: read_only
effect: pure
timeoutMs: 30000
run: [${run.join(', ')}]
`;

interface Template {
  readonly run: readonly string[];
  readonly files: Readonly<Record<string, string>>;
  readonly test: (folder: string) => string;
}

const PYTHON = `#!/usr/bin/env python3
"""Arguments come as JSON on standard input; standard output is the result. Exit code 2 refuses, 75 may be tried again."""
import json
import os
import sys

arguments = json.load(sys.stdin)
if not arguments["text"].strip():
    print("text is empty: give some", file=sys.stderr)
    sys.exit(2)
try:  # Descriptor 3 takes updates and progress; a test may not open it.
    os.write(3, b'{"progress": {"done": 1, "total": 1}}\\n')
except OSError:
    pass
print("TOOL_NAME: " + arguments["text"])
`;

const PYTHON_TEST = `#!/usr/bin/env python3
import os
import subprocess
import sys
import unittest

TOOL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tool.py")


class ToolTest(unittest.TestCase):
    def run_tool(self, arguments):
        return subprocess.run([sys.executable, TOOL], input=arguments, capture_output=True, text=True)

    def test_answers(self):
        self.assertEqual(self.run_tool('{"text": "hello"}').stdout, "TOOL_NAME: hello\\n")

    def test_refuses_an_empty_text(self):
        self.assertEqual(self.run_tool('{"text": " "}').returncode, 2)


if __name__ == "__main__":
    unittest.main()
`;

const NODE = `// Arguments come as JSON on standard input; standard output is the result. Exit code 2 refuses, 75 may be tried again.
import { readFileSync, writeSync } from 'node:fs';

const { text } = JSON.parse(readFileSync(0, 'utf8'));
if (text.trim() === '') {
  console.error('text is empty: give some');
  process.exit(2);
}
try {
  writeSync(3, '{"progress": {"done": 1, "total": 1}}\\n');
} catch {
  // Descriptor 3 takes updates and progress; a test may not open it.
}
console.log(\`TOOL_NAME: \${text}\`);
`;

const NODE_TEST = `import assert from 'node:assert';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';

const run = (args) => spawnSync(process.execPath, [new URL('tool.mjs', import.meta.url).pathname], { input: args, encoding: 'utf8' });

test('answers', () => assert.equal(run('{"text": "hello"}').stdout, 'TOOL_NAME: hello\\n'));
test('refuses an empty text', () => assert.equal(run('{"text": " "}').status, 2));
`;

const BASH = `#!/usr/bin/env bash
# Arguments come as JSON on standard input; standard output is the result. Exit code 2 refuses, 75 may be tried again.
set -eu
text=$(sed -n 's/.*"text" *: *"\\([^"\\\\]*\\)".*/\\1/p')
if [ -z "\${text// /}" ]; then
  echo 'text is empty, or holds a quotation mark: give some' >&2
  exit 2
fi
# Descriptor 3 takes updates and progress; a test may not open it.
{ echo '{"progress": {"done": 1, "total": 1}}' >&3; } 2>/dev/null || true
echo "TOOL_NAME: $text"
`;

const BASH_TEST = `#!/usr/bin/env bash
cd "$(dirname "$0")"
[ "$(echo '{"text": "hello"}' | bash ./tool.sh)" = 'TOOL_NAME: hello' ] || { echo 'it does not answer'; exit 1; }
status=0
echo '{"text": " "}' | bash ./tool.sh 2>/dev/null || status=$?
[ "$status" = 2 ] || { echo "it does not refuse an empty text: $status"; exit 1; }
echo ok
`;

const TEMPLATES: Record<Language, Template> = {
  python: {
    run: ['python3', './tool.py'],
    files: { 'tool.py': PYTHON, 'test_tool.py': PYTHON_TEST },
    test: (folder) => `python3 ${folder}/test_tool.py`,
  },
  node: { run: ['node', './tool.mjs'], files: { 'tool.mjs': NODE, 'tool.test.mjs': NODE_TEST }, test: (folder) => `node --test ${folder}` },
  bash: { run: ['bash', './tool.sh'], files: { 'tool.sh': BASH, 'test.sh': BASH_TEST }, test: (folder) => `bash ${folder}/test.sh` },
};
