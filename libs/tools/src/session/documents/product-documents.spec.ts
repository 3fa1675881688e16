import { describe, expect, it } from '@jest/globals';
import { productDocuments, sectionsAbout, sectionsOf } from './product-documents.js';

const TEXT = '# Title\nintro\n## Limits\nA limit of files.\n```sh\n# no heading\n```\n## Keys\nRotate a key: files.\n';

describe('the documents of the product', () => {
  it('finds the Markdown files of the project without decision records', () => {
    const paths = [...productDocuments().keys()];
    expect(paths).toEqual(expect.arrayContaining(['README.md', 'libs/policy/README.md', 'deploy/CONFIGURATION.md', 'apps/README.md']));
    expect(paths.filter((path) => /decisions|node_modules/.test(path))).toEqual([]);
  });

  it('splits documents at headings, not within code', () => {
    expect(sectionsOf('a.md', TEXT).map(({ heading }) => heading)).toEqual(['Title', 'Limits', 'Keys']);
    expect(sectionsOf('a.md', '')).toEqual([{ path: 'a.md', heading: 'a.md', text: '' }]);
  });

  it('finds documents by the words of a question: rare words and headings first, singular or plural', () => {
    const sections = sectionsOf('a.md', TEXT);
    const found = (query: string) => sectionsAbout(query, sections, 2).map(({ heading }) => heading);
    expect(found('which limits have files?')).toEqual(['Limits', 'Keys']);
    expect(found('KEY')).toEqual(['Keys']);
    expect(found('zebra')).toEqual([]);
    expect(found('')).toEqual([]);
  });
});
