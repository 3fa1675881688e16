import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { releaseNotes } from '../../deploy/packages/changelog.mjs';

const read = (file: string) => readFileSync(file, 'utf8');
const { version } = JSON.parse(read('package.json')) as { version: string };

describe('the changelog of a release', () => {
  const CHANGELOG = `# Changelog

## 1.10.0

### New

- a

## 1.1.0

### Fixed

- b
`;

  it('extracts the section of a release as its notes', () => {
    expect(releaseNotes(CHANGELOG, '1.10.0')).toBe('# 1.10.0\n\n## New\n\n- a\n');
    expect(releaseNotes(CHANGELOG, '1.1.0')).toBe('# 1.1.0\n\n## Fixed\n\n- b\n');
  });

  it('refuses to make a release without a section of the changelog', () => {
    for (const missing of ['1.1', '1.1.1', '10.0'])
      expect(() => releaseNotes(CHANGELOG, missing)).toThrow(`.github/CHANGELOG.md has no section "## ${missing}"`);
  });

  it('describes in the changelog the version of package.json, without links that break on a release page', () => {
    const notes = releaseNotes(read('.github/CHANGELOG.md'), version);
    expect(notes.length).toBeGreaterThan(100);
    expect(notes).not.toMatch(/\]\(\./);
  });
});

describe('the version of a release', () => {
  const LOCK = JSON.parse(read('package-lock.json')) as { version: string; packages: Record<string, { version: string }> };
  /** Names of images and tarballs with a version. */
  const NAMED = /(?:registry\.example\.com\/toolyard:|toolyard-client-|newTag: )(\d+\.\d+\.\d+)/g;

  it.each([
    'deploy/kubernetes/overlays/example/kustomization.yaml',
    'deploy/guides/kubernetes.md',
    'deploy/guides/upgrade.md',
    'deploy/guides/openai.md',
    'deploy/guides/langchain.md',
    'deploy/guides/ai-sdk.md',
  ])('names the version of package.json in %s', (file) => {
    const named = [...read(file).matchAll(NAMED)].map(([, found]) => found);
    expect(named.length).toBeGreaterThan(0);
    expect(new Set(named)).toEqual(new Set([version]));
  });

  it('names the version of package.json in package-lock.json', () =>
    expect([LOCK.version, LOCK.packages['']?.version]).toEqual([version, version]));
});
