import { afterAll, describe, expect, it } from '@jest/globals';
import { EgressPolicy } from '#sandbox';
import { testSite } from '../../../sandbox/src/testing/test-site.fixture.js';
import { fakeToolContext } from '../testing/tool-context.js';
import { WebFetchTool } from './web-fetch.tool.js';

const opened: { close(): Promise<void> }[] = [];
afterAll(() => Promise.all(opened.map((it) => it.close())));

/** Text of a page as a model reads it. */
async function read(
  html: string,
  format: 'markdown' | 'text' = 'text',
  { path = '/', type = 'text/html; charset=utf-8' }: { readonly path?: string; readonly type?: string } = {},
): Promise<{ body: string; title: unknown }> {
  const site = await testSite((_request, response) => response.setHeader('content-type', type).end(html));
  const tool = new WebFetchTool(new EgressPolicy([site.host]));
  opened.push(site, { close: () => tool.onApplicationShutdown() });
  const output = await tool.run({ url: `http://${site.host}${path}`, output_format: format, max_chars: 50_000 }, fakeToolContext());
  return { body: String(output.data?.['body']).replaceAll(site.host, 'site'), title: output.details?.['title'] };
}
/** The words, without the white space between them. */
const wordsOf = async (html: string) => (await read(html)).body.trim().split(/\s+/).join(' ');

describe('web_fetch of a page', () => {
  it.each([
    ['a drawing that closes itself', '<body><svg class="i"/><p>ONE</p><svg><path/></svg><p>TWO</p></body>', 'ONE TWO'],
    ['markup in an attribute', '<p>A</p><a title="how to use <template> tags">link</a><p>B</p>', 'A link B'],
    ['an empty comment', '<p>A</p><!--><p>B</p><!-- x --><p>C</p>', 'A B C'],
    ['an empty comment with a dash', '<p>A</p><!---><p>B</p>', 'A B'],
    ['a comment that ends with an exclamation mark', '<p>A</p><!-- x --!><p>B</p>', 'A B'],
    ['a comment without an end', '<p>A</p><!-- <p>B</p>', 'A'],
    ['a bogus comment', '<p>A</p><!x <p>B</p>', 'A B'],
    ['a processing instruction', '<p>A</p><?php echo 1 ?><p>B</p>', 'A B'],
    ['a greater-than sign in an attribute', '<p>A</p><a data-x="1 > 0 <script>" href="/x">link</a><p>B</p>', 'A link B'],
    ['a tag in a script', '<p>A</p><script>if (a<b) x = "</p><svg>"</script><p>B</p>', 'A B'],
    ['a script in a script', '<p>A</p><script><!-- <script></script> --></script><p>B</p>', 'A B'],
    ['an end tag with attributes', '<p>A</p><style>a{}</style x=1><p>B</p>', 'A B'],
    ['an end tag on several lines', '<p>A</p><script>x</script\n\n\n><p>B</p>', 'A B'],
    ['a text field with tags', '<p>A</p><textarea><svg> & <b></textarea><p>B</p>', 'A <svg> & <b> B'],
    ['a title with tags', '<title>a <b> c</title><p>B</p>', 'B'],
    ['HTML in a drawing', '<svg><p>A</p></svg><p>B</p>', 'A B'],
    ['text of a drawing', '<svg><text>no</text></svg><p>B</p>', 'B'],
    ['a formula', '<p>A <math><mi>x</mi><mo>=</mo><mn>1</mn></math> B</p>', 'A x=1 B'],
    ['a template', '<p>A</p><template><p>no</p></template><p>B</p>', 'A B'],
    ['a shadow root', '<x-a><template shadowrootmode="open"><p>A</p></template></x-a><p>B</p>', 'A B'],
    ['a frame', '<p>A</p><iframe src=x>no</iframe><p>B</p>', 'A B'],
    ['a self-closing div', '<div/><p>A</p>', 'A'],
    ['a self-closing script', '<p>A</p><script src="x"/></script><p>B</p>', 'A B'],
    ['no end tags', '<ul><li>A<li>B</ul><p>C<p>D', '- A - B C D'],
    ['wrong nesting', '<b>A<i>B</b>C</i>D', 'ABCD'],
    ['text in a table', '<table>A<tr><td>B</table>', 'A | B | | - |'],
    ['plain text to the end', '<p>A</p><plaintext><b>B', 'A <b>B'],
    ['an old listing', '<xmp><b>A</b></xmp><p>B</p>', '<b>A</b> B'],
    ['a CDATA section', '<p>A</p><![CDATA[x]]><p>B</p>', 'A B'],
    ['a less-than sign', '<p>1 < 2 and a<3</p>', '1 < 2 and a<3'],
    ['references without a semicolon', '<p>A &amp B &copy C &lt;svg&gt; &#x41;&#66;</p>', 'A & B © C <svg> AB'],
    ['a declaration that is text', '<p>A &lt;!DOCTYPE html&gt; B</p>', 'A <!DOCTYPE html> B'],
    ['attributes without quotes', '<p class=a>A</p><a href=/x title=a>B</a>', 'A B'],
    ['a body after the end', '<html><body><p>A</p></body></html><p>B</p>', 'A B'],
    ['a NUL character', '<p>A\u0000B</p>', 'AB'],
    ['a noscript in the head', '<head><noscript><p>no</p></noscript></head><p>B</p>', 'B'],
    ['upper-case tags', '<P>A</P><SCRIPT>x</SCRIPT><P>B</P>', 'A B'],
    ['lines in a cell', '<table><tr><td>A<br>B</td></tr></table>', '| A B | | --- |'],
    ['fields side by side', '<button>A</button><select><option>B<option>C</select><textarea>D</textarea><input>E', 'A B C D E'],
    ['the source of a formula', '<math><semantics><mi>x</mi><annotation>\\x</annotation></semantics></math>', 'x'],
    ['a page for browsers without scripts', '<div id=root></div><noscript>Enable <b>scripts</b></noscript>', 'Enable scripts'],
    ['a page with more than its noscript', '<p>A</p><noscript>no</noscript>', 'A'],
    ['a table in a table', '<table><tr><td>A<table><tr><td>B</td><td>C</td></tr></table></td></tr></table>', '| A B C | | ----- |'],
  ])('reads a page as a browser does: %s', async (_what, html, expected) => expect(await wordsOf(html)).toBe(expected));

  it.each([
    ['a title that closes itself', '<html><head><title/></head><body><p>A</p></body></html>', 'A'],
    ['a script that closes itself', '<html><head><script src="a>b"/><style/></head><body><div/><p>A</p><br/>B</body></html>', 'A B'],
    ['a section of text', '<html><body><p><![CDATA[1 < 2 & <b>]]></p><!-- <![CDATA[no]]> <p/> --></body></html>', '1 < 2 & <b>'],
    ['attributes with a slash', '<html><body><a href=\'/x/\' title="/>">A</a><p class="/" />B</body></html>', 'A B'],
  ])('reads a page of XHTML as a browser does: %s', async (_what, html, expected) =>
    expect((await read(html, 'text', { type: 'application/xhtml+xml' })).body.split(/\s+/).join(' ')).toBe(expected),
  );

  it.each([
    ['preformatted text without code', '<pre><span># a</span>\n  b_c_<br>d</pre>', '```\n# a\n  b_c_\nd\n```'],
    ['preformatted text with code', '<pre><code class="language-js">a\n\n\nb</code></pre>', '```js\na\n\n\nb\n```'],
    ['an image that is loaded later', '<img src="data:image/gif;base64,R0" data-src="/a.png" alt="A">', '![A](http://site/a.png)'],
    ['an image of several sizes', '<img srcset="/a.png 1x, /b.png 2x" alt="A">', '![A](http://site/a.png)'],
    ['an image in the page', '<p>B <img src="data:image/gif;base64,R0" alt="A *"> C</p>', 'B A \\* C'],
  ])('shows as Markdown %s', async (_what, html, expected) => expect((await read(html, 'markdown')).body).toBe(expected));

  it('resolves links as a browser does', async () => {
    const page = `<a href=next>a</a> <a title="x > y" href="?q=1&amp;r=(2)">b</a> <a href=" /c d ">c</a> <a href='//other/x'>d</a> <A HREF="UP">e</A>`;
    expect((await read(page, 'markdown', { path: '/dir/page' })).body).toBe(
      '[a](http://site/dir/next) [b](http://site/dir/page?q=1&r=%282%29 "x > y") [c](http://site/c%20d) [d](http://other/x) [e](http://site/dir/UP)',
    );
    const based = '<!-- <base href="/no/"> --><base target=x><base href=/yes/><base href=/no/><a href=x>a</a>';
    expect((await read(based, 'markdown')).body).toBe('[a](http://site/yes/x)');
  });

  it('takes the title of the page, not that of a drawing or a script', async () => {
    const html = '<script>"<title>no</title>"</script><svg><title>no</title></svg><title> A &lt;b&gt;\n &amp; <i>C </title><p>B</p>';
    expect(await read(html)).toEqual({ body: 'B', title: 'A <b> & <i>C' });
  });

  it('keeps the words of a page that is too deep for its structure', async () => {
    const html = `<p title="<svg>">A</p><script>"<p>no"</script>${'<div>'.repeat(20_000)}<svg/>B &lt;c&gt;`;
    expect(await wordsOf(html)).toBe('A B <c>');
  });

  it('keeps the words of a page whose tags multiply', async () => {
    const fonts = Array.from({ length: 4_000 }, (_unused, n) => `<font size=${n}>`).join('');
    expect(await wordsOf(`<p>A${fonts}${'<p>x'.repeat(4_000)}<p>B`)).toMatch(/^A x x .* x B$/);
  });
});
