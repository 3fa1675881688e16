import { readFileSync, writeFileSync } from 'node:fs';

const FILE = new URL('../../durations.json', import.meta.url);
const UNKNOWN_SECONDS = 60;

/** @type {Record<string, Record<string, number>>} Seconds by project and path. */
const recorded = JSON.parse(readFileSync(FILE, 'utf8'));

/**
 * Path of a test file, and the project that runs it.
 * @typedef {{ project: string, path: string }} TestFile
 */

/** @param {TestFile} file @returns {number} Seconds, as last recorded by `TEST_DURATIONS=record npm test`. */
export function secondsOf({ project, path }) {
  return recorded[project]?.[path] ?? UNKNOWN_SECONDS;
}

/** Replaces the durations of files that ran. The others keep theirs. @param {readonly (TestFile & { seconds: number })[]} files */
export function recordDurations(files) {
  for (const { project, path, seconds } of files) (recorded[project] ??= {})[path] = Math.round(seconds * 10) / 10;
  const sorted = Object.fromEntries(
    Object.keys(recorded)
      .toSorted()
      .map((project) => [project, Object.fromEntries(Object.entries(recorded[project] ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1)))]),
  );
  writeFileSync(FILE, `${JSON.stringify(sorted, undefined, 2)}\n`);
}
