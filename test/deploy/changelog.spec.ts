import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { changelogOf, commitsOf } from '../../deploy/packages/changelog.mjs';

let repository: string;

const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', ...args], { cwd: repository, encoding: 'utf8' });
const commit = (...paragraphs: string[]) => git('commit', '--quiet', '--allow-empty', ...paragraphs.flatMap((text) => ['-m', text]));

beforeAll(() => {
  repository = mkdtempSync(join(tmpdir(), 'toolyard-changelog-'));
  git('init', '--quiet');
  commit('feat: begin');
  git('tag', 'v0.1.0');
});
afterAll(() => rmSync(repository, { recursive: true, force: true }));

describe('the changelog of a release', () => {
  it('lists what is new, fixed and faster since the tag before in a changelog, and what breaks first', () => {
    commit('feat(gateway): name who made a key');
    commit('test: wait for an event');
    commit('fix: end a socket', 'A body: it has colons.');
    commit('perf(worker)!: claim in batches');
    commit('refactor(log): drop format 1', 'BREAKING CHANGE: logs of format 1\nare not read any more.');
    commit('Not in the form');
    git('tag', 'v0.2.0'); // The tag of the release itself.
    const text = changelogOf('0.2.0', commitsOf(repository) ?? []).replaceAll(/ \([0-9a-f]{7,}\)$/gm, '');
    expect(text).toBe(
      [
        '# 0.2.0\n',
        '## Breaking changes\n',
        '- **log**: logs of format 1 are not read any more.\n- **worker**: claim in batches\n',
        '## New\n',
        '- **gateway**: name who made a key\n',
        '## Fixed\n',
        '- end a socket\n',
        '## Faster\n',
        '- **worker**: claim in batches\n',
      ].join('\n'),
    );
  });

  it('refuses to make a changelog outside of a repository', () => {
    const folder = mkdtempSync(join(tmpdir(), 'toolyard-no-repository-'));
    expect(commitsOf(folder)).toBeUndefined();
    rmSync(folder, { recursive: true });
  });
});
