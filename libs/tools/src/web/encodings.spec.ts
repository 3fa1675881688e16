import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from '@jest/globals';
import { EgressPolicy } from '#sandbox';
import { testSite } from '../../../sandbox/src/testing/test-site.fixture.js';
import { fakeToolContext } from '../testing/tool-context.js';
import { HttpRequestTool } from './http-request.tool.js';
import { WebFetchTool } from './web-fetch.tool.js';

const opened: { close(): Promise<void> }[] = [];
afterAll(() => Promise.all(opened.map((it) => it.close())));

/** The text of an answer as both tools show it. */
async function texts(type: string | string[], body: Buffer): Promise<string[]> {
  const site = await testSite((_request, response) => response.setHeader('content-type', type).end(body));
  const fetching = new WebFetchTool(new EgressPolicy([site.host]));
  opened.push(site, { close: () => fetching.onApplicationShutdown() });
  const url = `http://${site.host}/`;
  const page = await fetching.run({ url, output_format: 'raw', max_chars: 50_000 }, fakeToolContext());
  const sent = await new HttpRequestTool(new EgressPolicy([site.host])).run({ url, method: 'GET', headers: {} }, fakeToolContext());
  const [part] = sent.content;
  return [String(page.data?.['body']), part?.type === 'text' ? (part.text.split('Response Body:\n')[1] ?? '') : ''];
}

const RUSSIAN = Buffer.from('cff0e8e2e5f2', 'hex');
const around = (before: string, bytes: Buffer, after = '') => Buffer.concat([Buffer.from(before), bytes, Buffer.from(after)]);
const rss = (encoding: string, text: Buffer) =>
  around(`<?xml version="1.0" encoding="${encoding}"?><rss><channel><title>`, text, '</title></channel></rss>');

describe('the text of an answer', () => {
  it.each([
    ['GIF89a is a format of images.', 'text/plain'],
    ['%PDF-1.7 begins each file of this version.\nprüfe', 'text/markdown; charset=utf-8'],
    ['GIF8 = 1\n', 'application/json'],
    ['PK is no archive', 'text/plain'],
  ])('shows a text that begins like a file of another kind: %s', async (text, type) => {
    expect(await texts(type, Buffer.from(text))).toEqual([text, text]);
  });

  it.each([
    ['GIF', Buffer.from('GIF89a\u0001\0\u0001\0')],
    ['PDF', Buffer.from('%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj', 'latin1')],
    ['PDF with a stream', Buffer.from('%PDF-1.4\nstream\n\u0002')],
  ])('does not show a file that is declared as text: %s', async (_kind, body) => {
    const [shown = ''] = await texts('text/plain', body);
    expect(shown).toBe('');
  });

  it.each([
    ['the XML declaration', 'application/rss+xml', rss('windows-1251', RUSSIAN)],
    ['the XML declaration of text/xml', 'text/xml', rss('windows-1251', RUSSIAN)],
    ['the XML declaration in single quotes', 'application/xml', around("<?xml version='1.0' encoding = 'windows-1251' ?><a>", RUSSIAN)],
    ['the XML declaration of XHTML', 'application/xhtml+xml', rss('windows-1251', RUSSIAN)],
    ['the charset of the header', 'text/html; charset=windows-1251', around('<meta charset=utf-8><p>', RUSSIAN)],
    ['the quoted charset of the header', 'text/plain; Charset="Windows-1251"', RUSSIAN],
    ['the header, not the XML declaration', 'application/xml;charset=windows-1251', rss('koi8-r', RUSSIAN)],
    ['the meta element', 'text/html', around('<meta charset="windows-1251"><p>', RUSSIAN)],
    [
      'the meta element with a content',
      'text/html',
      around(`<META content='text/html;charset=windows-1251' http-equiv=Content-Type>`, RUSSIAN),
    ],
    ['the meta element behind another', 'text/html', around('<meta name=a content="charset=koi8-r"><meta charset=windows-1251>', RUSSIAN)],
    ['a header with an unknown charset', 'text/html; charset=x-none', around('<meta charset=windows-1251>', RUSSIAN)],
    ['the meta element, not a comment', 'text/html', around('<!-- <meta charset=koi8-r> --><meta charset=windows-1251>', RUSSIAN)],
    ['the style sheet', 'text/css', around('@charset "windows-1251"; a::after{content:"', RUSSIAN, '"}')],
    ['a declaration that lies', 'application/rss+xml', rss('windows-1251', Buffer.from('Привет'))],
    ['a meta element that lies', 'text/html', around('<meta charset=iso-8859-1><p>', Buffer.from('Привет'))],
    ['nothing', 'text/plain', Buffer.from('Привет')],
    ['a byte order mark', 'text/plain; charset=windows-1251', Buffer.from('\ufeffПривет')],
    ['a byte order mark of UTF-16', 'application/json; charset=utf-8', Buffer.from('\ufeff"Привет"', 'utf16le')],
    ['a meta element in UTF-16, which it cannot be', 'text/html', around('<meta charset=utf-16><p>', Buffer.from('Привет'))],
    ['an XML declaration of UTF-16 without a mark', 'application/xml', Buffer.from('<?xml version="1.0"?><a>Привет', 'utf16le')],
    ['NUL bytes of UTF-16 without a mark', 'application/json', Buffer.from('{"a":"Привет"}', 'utf16le')],
    ['NUL bytes of UTF-16 from high to low', 'text/html; charset=utf-8', Buffer.from('<p>Привет', 'utf16le').swap16()],
    ['a label of Windows', 'text/html; charset=CP932', Buffer.from('8350835f', 'hex'), 'ケダ'],
    ['a label of Python', 'text/plain; charset=cp949', Buffer.from('bec8b3e7', 'hex'), '안녕'],
    ['a label of a database', 'text/html; charset=utf8mb4', around('<meta charset=koi8-r>', Buffer.from('Привет'))],
    ['an escape sequence', 'text/html; charset=iso-2022-jp', Buffer.from('\x1b$B%1%@\x1b(B', 'latin1'), 'ケダ'],
    ['a label of one byte a character', 'text/html; charset=us-ascii', Buffer.from('93e994', 'hex'), '“é”'],
    ['two charsets of the header', 'text/html; charset=windows-1251; charset=utf-8', RUSSIAN],
    ['the last of two types of the header', ['text/plain', 'text/html; charset=windows-1251'], RUSSIAN],
    ['the charset of an earlier type like the last', ['text/html; charset=windows-1251', 'text/html'], RUSSIAN],
    ['its bytes where the header is no type', ';;;', Buffer.from('Привет')],
    ['text that is cut within a character', 'text/html', around('<meta charset=windows-1252>', Buffer.from('Привет').subarray(0, -1))],
    ['Japanese', 'text/html', around('<meta charset=Shift_JIS>', Buffer.from('8350835f', 'hex')), 'ケダ'],
    ['Korean beyond KS X 1001', 'text/html; charset=euc-kr', Buffer.from('8141b0a1', 'hex'), '갂가'],
    ['Korean of Windows', 'text/html', around('<meta charset=ks_c_5601-1987>', Buffer.from('c652', 'hex')), '힣'],
    ['Chinese of Hong Kong', 'text/html; charset=Big5-HKSCS', Buffer.from('87408b42a741', 'hex'), '䏰𢯎你'],
    ['Chinese of Taiwan', 'text/html; charset=big5', Buffer.from('a741a66e', 'hex'), '你好'],
    ['Romanian', 'text/plain; charset=ISO-8859-16', Buffer.from('aabafede', 'hex'), 'ȘșțȚ'],
    ['Chinese', 'text/html; charset=gb2312', Buffer.from('c4e3bac3', 'hex'), '你好'],
    ['all bytes of windows-1252', 'text/plain; charset=latin1', Buffer.from('80818d9fa0ff', 'hex'), '€\u0081\u008dŸ\u00a0ÿ'],
    ['Latin-1 in no charset', 'text/plain', Buffer.from('caf\xe9 \x80', 'latin1'), 'café €'],
  ])('decodes a page by %s', async (_what, type, body, expected = 'Привет'.slice(0, 5)) => {
    for (const text of await texts(type, body)) {
      expect(text).toContain(expected);
      expect(text).not.toMatch(/^\ufeff/);
    }
  });

  it('decodes a page after it is unpacked', async () => {
    const site = await testSite((_request, response) =>
      response
        .writeHead(200, { 'content-type': 'application/rss+xml', 'content-encoding': 'gzip' })
        .end(gzipSync(rss('windows-1251', RUSSIAN))),
    );
    const tool = new WebFetchTool(new EgressPolicy([site.host]));
    opened.push(site);
    const output = await tool.run({ url: `http://${site.host}/`, output_format: 'auto', max_chars: 500 }, fakeToolContext());
    expect(output.data?.['body']).toContain('<title>Привет</title>');
  });
});
