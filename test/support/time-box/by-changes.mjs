import { execFileSync } from 'node:child_process';
import { dirname } from 'node:path';
import { AREAS } from './areas.mjs';

const COMMITS_LOOKED_AT = 60;

/**
 * Order of the thorough files in a time box: changed files, then files of changed areas, then the others. Each of the three
 * begins at another file for each number of commits, so that in time all files have their turn.
 * @template {{ path: string }} T
 * @param {readonly T[]} files
 * @param {{ commits: number, changed: readonly string[] }} changes
 * @returns {T[]}
 */
export function byChanges(files, { commits, changed }) {
  const paths = new Set(changed);
  const folders = new Set(changed.map((path) => `${dirname(path)}/`));
  const patterns = AREAS.filter(([folder]) => changed.some((path) => path.startsWith(folder))).map(([, tests]) => tests);
  const rankOf = ({ path }) => {
    if (paths.has(path)) return 0;
    return folders.has(`${dirname(path)}/`) || patterns.some((tests) => tests.test(path)) ? 1 : 2;
  };
  const sorted = files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  return [0, 1, 2].flatMap((rank) =>
    rotated(
      sorted.filter((file) => rankOf(file) === rank),
      commits,
    ),
  );
}

/** Lists recent changes. Without a repository nothing counts as changed. @returns {{ commits: number, changed: string[] }} */
export function recentChanges() {
  try {
    const git = (/** @type {string[]} */ ...args) => execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    const changed = git('log', `-${COMMITS_LOOKED_AT}`, '--format=', '--name-only').split('\n').filter(Boolean);
    return { commits: Number(git('rev-list', '--count', 'HEAD')), changed: [...new Set(changed)] };
  } catch {
    return { commits: 0, changed: [] };
  }
}

function rotated(files, steps) {
  const start = files.length === 0 ? 0 : steps % files.length;
  return [...files.slice(start), ...files.slice(0, start)];
}
