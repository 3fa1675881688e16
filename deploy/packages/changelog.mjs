// The changelog of a release, from its commits. Subjects are `type(scope): what`; others are left out.
import { spawnSync } from 'node:child_process';

const SUBJECT = /^(\w+)(?:\(([^)]+)\))?(!?): (.+)$/;
/** How git ends a field and a commit here: no message has these characters. */
const [FIELD, COMMIT] = ['\u001f', '\u001e'];

/** Type → its heading, in the order of the changelog. What changes nothing for users has none. */
const HEADINGS = { feat: 'New', fix: 'Fixed', perf: 'Faster' };

/**
 * The commits of a git repository since the last tag `v*` before HEAD, newest first; undefined where there is no repository.
 * A commit is `{ hash, subject, body }`.
 */
export function commitsOf(folder) {
  const git = (...args) => spawnSync('git', args, { cwd: folder, encoding: 'utf8', maxBuffer: 64 * 2 ** 20 });
  const before = git('describe', '--tags', '--abbrev=0', '--match', 'v*', 'HEAD^');
  const range = before.status === 0 ? [`${before.stdout.trim()}..HEAD`] : [];
  const { status, stdout } = git('log', '--no-merges', `--format=%h${FIELD}%s${FIELD}%b${COMMIT}`, ...range);
  if (status !== 0) return undefined;
  const entries = stdout.split(COMMIT).map((entry) => entry.trim());
  return entries.filter((entry) => entry !== '').map((entry) => toCommit(entry.split(FIELD)));
}

function toCommit([hash, subject, body = '']) {
  return { hash, subject, body };
}

/** Markdown: breaking changes first, then what is new, fixed and faster. */
export function changelogOf(version, commits) {
  const found = commits.flatMap(({ hash, subject, body }) => {
    const [, type, scope, mark, what] = SUBJECT.exec(subject) ?? [];
    if (type === undefined) return [];
    const breaking =
      /(?:^|\n)BREAKING CHANGE: ([^]+?)(?:\n\n|$)/.exec(body)?.[1].replaceAll('\n', ' ') ?? (mark === '!' ? what : undefined);
    const line = (text) => `- ${scope === undefined ? '' : `**${scope}**: `}${text} (${hash})`;
    return [{ type, breaking: breaking && line(breaking), line: line(what) }];
  });
  const sections = [
    ['Breaking changes', found.flatMap(({ breaking }) => (breaking === undefined ? [] : [breaking]))],
    ...Object.entries(HEADINGS).map(([type, heading]) => [heading, found.filter((it) => it.type === type).map(({ line }) => line)]),
  ];
  const shown = sections.filter(([, lines]) => lines.length > 0).map(([heading, lines]) => `## ${heading}\n\n${lines.join('\n')}\n`);
  return [`# ${version}\n`, ...shown].join('\n');
}
