/**
 * The section of a release in `.github/CHANGELOG.md`, with a heading of the first level.
 * Throws an Error that says what to do when there is none: no release goes without a word.
 */
export function releaseNotes(changelog, version) {
  const section = changelog.split(/^## /m).find((text) => text.startsWith(`${version}\n`));
  if (section === undefined) throw new Error(`.github/CHANGELOG.md has no section "## ${version}". Write what the release changes.`);
  return `# ${section
    .replaceAll(/^###/gm, '##')
    .replaceAll(/\[([^\]]+)\]\(\.\.?\/[^)]*\)/g, '$1')
    .trimEnd()}\n`;
}
