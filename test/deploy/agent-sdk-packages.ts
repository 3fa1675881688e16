import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const PROGRAMS = resolve('test/deploy/agent-sdks');
const NODE_22 = `node-${process.platform}-${process.arch}`;

const CLAUDE_AGENT_SDK = '@anthropic-ai/claude-agent-sdk@0.3.330';

/** Installed in folders of their own: they are too large to be dependencies of the tests, and two are versions of one. */
const PACKAGES = {
  six: [
    'ai@6.0.326',
    '@langchain/core@1.4.0',
    '@openai/agents@0.20.0',
    // An optional part of @openai/agents, without which it does not load.
    '@modelcontextprotocol/client@2.4.0',
    '@anthropic-ai/sdk@1.12.0',
    CLAUDE_AGENT_SDK,
    'zod@4.6.7',
    `${NODE_22}@22`,
    // Their MCP clients.
    '@ai-sdk/mcp@1.0.102',
    '@langchain/mcp-adapters@1.1.4',
    // Packages of the guides.
    '@ai-sdk/openai-compatible@2.0.91',
    'langchain@1.5.12',
    '@langchain/openai@1.6.0',
  ],
  seven: ['ai@7.0.173', '@ai-sdk/mcp@2.0.99', 'zod@4.6.7'],
  claude: [CLAUDE_AGENT_SDK, 'zod@4.6.7'],
};
export type PackageFolder = keyof typeof PACKAGES;

/** Node 22, for SDKs that do not run on Node 20. */
export const node22In = (root: string): string => join(root, 'six/node_modules', NODE_22, 'bin/node');

/** The programs of agents beside their SDKs. `#client` is that of dist, as in an installation of its own. */
export async function installSdks(root: string, name: PackageFolder): Promise<void> {
  const folder = join(root, name);
  mkdirSync(folder);
  const client = './toolyard/dist/libs/client/src';
  const imports = { '#client': `${client}/index.js`, '#client/*': `${client}/adapters/*.js` };
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module', private: true, imports }));
  symlinkSync(resolve('.'), join(folder, 'toolyard'));
  for (const file of readdirSync(PROGRAMS)) copyFileSync(join(PROGRAMS, file), join(folder, file));
  // Optional is the program of Claude Code, hundreds of megabytes.
  const flags = ['--no-audit', '--no-fund', '--no-save', ...(name === 'claude' ? [] : ['--omit=optional'])];
  await promisify(execFile)('npm', ['install', '--prefix', folder, ...flags, ...PACKAGES[name]]);
}

/** The client under its public name, and commands that stand for those of the guides: the packages are there already, so npm only looks. */
export function prepareGuides(root: string): { readonly folder: string; readonly path: string } {
  const folder = join(root, 'six');
  const client = join(folder, 'node_modules/@toolyard/client');
  mkdirSync(client, { recursive: true });
  const built = resolve('dist/libs/client/src');
  const exported = { '.': './built/index.js', './*': './built/adapters/*.js' };
  writeFileSync(join(client, 'package.json'), JSON.stringify({ type: 'module', exports: exported }));
  symlinkSync(built, join(client, 'built'));
  const bin = join(root, 'bin');
  mkdirSync(bin);
  symlinkSync(node22In(root), join(bin, 'node'));
  const npm = `#!/bin/sh
shift
for name; do
  case "$name" in
    *toolyard-client-*.tgz) ;;
    *) [ -e "node_modules/$(echo "$name" | sed 's/\\(.\\)@.*/\\1/')/package.json" ] || { echo "the test does not install $name"; exit 1; } ;;
  esac
done
`;
  writeFileSync(join(bin, 'npm'), npm, { mode: 0o755 });
  return { folder, path: bin };
}

/** Code assumed by the snippets of the README, by the words at their beginning. */
const PRELUDES: Readonly<Record<string, string>> = {
  'AI SDK': `import type { LanguageModel } from 'ai'; declare const model: LanguageModel;`,
  LangChain: `import type { FakeBuiltModel } from '@langchain/core/testing'; declare const model: FakeBuiltModel;`,
  'OpenAI Agents': '',
  'OpenAI, Chat Completions': `import type OpenAI from 'openai'; declare const openai: OpenAI; declare const messages: OpenAI.ChatCompletionMessageParam[];
    declare const tools: OpenAI.ChatCompletionTool[];`,
  'Anthropic, tool runner': `import type Anthropic from '@anthropic-ai/sdk'; declare const anthropic: Anthropic;
    declare const messages: Anthropic.Beta.BetaMessageParam[];`,
  'Anthropic, a loop': `import type Anthropic from '@anthropic-ai/sdk'; declare const anthropic: Anthropic; declare const messages: Anthropic.MessageParam[];
    declare const tools: Anthropic.Tool[];`,
  'Claude Agent SDK': `declare const baseUrl: string; declare const apiKey: string;`,
};

/** Type-checks the snippets of the adapters' README against the installed SDKs. Resolves with what the compiler says. */
export async function checkSnippets(root: string, name: PackageFolder, chosen = Object.keys(PRELUDES)): Promise<string> {
  const folder = join(root, name, 'snippets');
  mkdirSync(folder);
  const paths = {
    '#client': [resolve('libs/client/src/index.ts')],
    '#client/*': [resolve('libs/client/src/adapters/*.ts')],
    '#contracts': [resolve('libs/contracts/src/index.ts')],
  };
  const compilerOptions = {
    target: 'ES2023',
    lib: ['ES2023', 'ES2024.String', 'DOM', 'DOM.AsyncIterable'],
    module: 'nodenext',
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: ['node'],
    typeRoots: [resolve('node_modules/@types')],
    // Paths instead of the condition `source`, which means other files to some packages of the SDKs.
    paths,
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
  const snippets = snippetsOf(readFileSync('libs/client/src/adapters/README.md', 'utf8'));
  for (const [index, word] of chosen.entries()) {
    const code = snippets.find((snippet) => snippet.startsWith(`// ${word}`));
    if (code === undefined) throw new Error(`the README has no snippet that begins with // ${word}`);
    const given = `import type { ToolyardClient } from '#client'; declare const client: ToolyardClient; declare const sessionId: string;`;
    writeFileSync(join(folder, `snippet-${index}.ts`), `${PRELUDES[word] ?? ''}\n${given}\n${code}\nexport {};\n`);
  }
  if (chosen.length === Object.keys(PRELUDES).length && snippets.length !== chosen.length)
    throw new Error(`the README has ${snippets.length} snippets, of which ${chosen.length} are checked`);
  const compiler = [resolve('node_modules/typescript/bin/tsc'), '-p', folder];
  return promisify(execFile)(process.execPath, compiler).then(
    ({ stdout }) => stdout,
    (error: { readonly stdout: string }) => error.stdout,
  );
}

function snippetsOf(markdown: string): string[] {
  return [...markdown.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code = '']) => code);
}
