const UNRELEASED = '## Unreleased';

/** The changelog with its unreleased section under the heading of `version`, and an empty unreleased section above. */
export function releaseChangelog(text: string, version: string, date: string): string {
  const lines = text.split('\n');
  const start = lines.indexOf(UNRELEASED);
  if (start === -1) throw new Error(`CHANGELOG.md has no section "${UNRELEASED}"`);
  if (lines.some((line) => line.startsWith(`## ${version} `))) {
    throw new Error(`CHANGELOG.md has a section for ${version} already`);
  }
  const next = lines.findIndex((line, index) => index > start && line.startsWith('## '));
  const section = lines.slice(start + 1, next === -1 ? undefined : next);
  if (section.every((line) => line.trim() === '')) throw new Error('CHANGELOG.md has nothing under "## Unreleased"');
  return lines.toSpliced(start, 1, UNRELEASED, '', `## ${version} (${date})`).join('\n');
}
