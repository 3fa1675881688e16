// List of the decisions of all libraries, from the headings of libs/<library>/decisions/*.md.
// `npm run generate` renews libs/DECISIONS.md; test/deploy/readme.spec.ts fails when it differs.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const LIBS = new URL('./', import.meta.url);
const LIST = new URL('DECISIONS.md', LIBS);
const HEADER =
  '# Decisions\n\nWritten by `npm run generate`, a line for each record. Those of the gateway: [`apps/README.md`](../apps/README.md).\n';

/** Text of libs/DECISIONS.md. */
export function decisionList() {
  const libraries = readdirSync(LIBS).filter((name) => existsSync(new URL(`${name}/decisions`, LIBS)));
  const sections = libraries.sort().map((name) => {
    const files = readdirSync(new URL(`${name}/decisions`, LIBS)).sort();
    const lines = files.map((file) => {
      const [heading = ''] = readFileSync(new URL(`${name}/decisions/${file}`, LIBS), 'utf8').split('\n');
      return `- [${heading.replace(/^# (?:\d+ )?/, '')}](${name}/decisions/${file})\n`;
    });
    return `\n**${name}**\n\n${lines.join('')}`;
  });
  return HEADER + sections.join('');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(LIST, decisionList());
