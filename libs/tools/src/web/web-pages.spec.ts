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
    ['a list that begins later', '<ol start=5><li>A<li>B</ol>', '5. A 6. B'],
    ['a list in reverse', '<ol reversed><li>A<li>B<li>C</ol>', '3. A 2. B 1. C'],
    ['a list in reverse from a number', '<ol reversed start=10><li>A<li>B</ol>', '10. A 9. B'],
    ['a list with numbers of its own', '<ol><li value=3>A<li>B<li value=x>C<li value=-1>D<li>E</ol>', '3. A 4. B 5. C -1. D 0. E'],
    ['a list in a list', '<ol start=2><li>A<ol start=7><li>B</ol><li>C</ol>', '2. A 7. B 3. C'],
    ['a list with numbers in one without', '<ul><li>A<ol start=4><li>B</ol></ul>', '- A 4. B'],
    ['a list in a list without an item', '<ul><li>A</li><ul><li>B</li></ul></ul>', '- A - B'],
    ['a page within the page', `<p>A</p><iframe srcdoc="<p>B &amp;lt;c&amp;gt;</p><script>no</script>">no</iframe><p>C</p>`, 'A B <c> C'],
    ['a page within a page within the page', `<iframe srcdoc="<p>A</p><iframe srcdoc='<b>B</b>'></iframe>"></iframe>`, 'A B'],
    ['a page within an item', '<ul><li>A<iframe srcdoc="<ul><li>B</ul>"></iframe> c<li>D</ul><p>E</p>', '- A - B c - D E'],
    ['a frame with a name', '<p>A</p><iframe src=x title="Map of B">no</iframe>', 'A Map of B'],
    ['frames', '<frameset><frame src=a name=Menu><frame src=b name=Main><noframes><p>no</p></noframes></frameset>', 'Menu Main'],
    [
      'a page that goes on elsewhere',
      '<meta http-equiv=Refresh content="0; URL=\'/next\'"><p>A</p>',
      'This page leads to http://site/next A',
    ],
    ['a page that loads itself again', '<meta http-equiv=refresh content=30><p>A</p>', 'A'],
    ['a page that goes on to itself', '<meta http-equiv=refresh content="30;url=/"><p>A</p>', 'A'],
    ['cells over several columns', '<table><tr><td colspan=2>A<td>B<tr><td>1<td>2<td>3</table>', '| A | | B | | - | - | - | | 1 | 2 | 3 |'],
    ['cells over several rows', '<table><tr><td rowspan=2>A<td>1<tr><td>2<tr><td>B<td>3</table>', '| A | 1 | | - | - | | | 2 | | B | 3 |'],
    ['cells over rows of a group', '<table><tbody><tr><td rowspan=9>A<td>1<tbody><tr><td>B<td>2</table>', '| A | 1 | | - | - | | B | 2 |'],
    ['a cell over rows at the end', '<table><tr><td>1<td rowspan=0>A<tr><td>2<tr><td>3</table>', '| 1 | A | | - | - | | 2 | | | 3 | |'],
    ['bars in a cell', '<table><tr><td>a | b | c<td>d</table>', '| a \\| b \\| c | d | | --------- | - |'],
    ['digits that are raised', '<p>10<sup>-6</sup> H<sub>2</sub>O 1<sup>st</sup> x<sup>n+1</sup></p>', '10⁻⁶ H₂O 1st xⁿ⁺¹'],
    ['quotes', '<p>A <q>B</q></p>', 'A “B”'],
    ['a heading of several lines', '<h1>A<br>B<div>C</div></h1><p>D</p>', 'A B C D'],
    ['a link that is a drawing', '<a href=/x aria-label="Home"><svg><path/></svg></a>', 'Home'],
    ['a break within a word', '<p>super<wbr>cali&shy;x&nbsp;y</p>', 'supercali\u00adx y'],
    ['white space that is kept', '<pre>\n  a\tb\r\n\n    c</pre>', 'a b c'],
    ['terms and what they mean', '<dl><dt>A<dd>B<dt>C<dd>D</dl>', 'A B C D'],
    ['readings above a word', '<ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby>', '漢(kan)'],
    ['hidden text', '<p hidden>A</p><p aria-hidden=true>B</p>', 'A B'],
    ['what is shown without frames', '<noembed><p>no</p></noembed><p>A</p>', 'A'],
    ['an answer behind its question', '<details open><summary>A</summary>B</details><dialog open>C</dialog>D', 'A B C D'],
    ['groups of fields', '<fieldset><legend>A</legend>B</fieldset><search>C</search>D', 'A B C D'],
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

  it.each(['application/xml', 'text/xml; charset=utf-8'])('reads a page of XHTML that is served as %s', async (type) => {
    const html =
      '<?xml version="1.0"?><!DOCTYPE html><!-- x --><html lang="en" xmlns="http://www.w3.org/1999/xhtml"><body><p>A<br/>B</p></body></html>';
    expect((await read(html, 'text', { type })).body.split(/\s+/)).toEqual(['A', 'B']);
    for (const other of ['<feed><html xmlns="http://www.w3.org/1999/xhtml">A</html></feed>', '<html><p>A</p></html>'])
      expect((await read(other, 'text', { type })).body).toBe(other);
  });

  it.each([
    ['preformatted text without code', '<pre><span># a</span>\n  b_c_<br>d</pre>', '```\n# a\n  b_c_\nd\n```'],
    ['preformatted text with white space', '<pre>\n  a\tb\n\n    c</pre>', '```\n  a\tb\n\n    c\n```'],
    ['a frame', '<p>A</p><iframe src="/b?c=1"></iframe>', 'A\n\n<http://site/b?c=1>'],
    ['a frame with a title', '<iframe src=b title="Map of B"></iframe>', '[Map of B](http://site/b)'],
    ['a frame that leads nowhere', '<p>A</p><iframe src="javascript:x"></iframe><iframe></iframe>', 'A'],
    ['frames', '<frameset><frame src=a><frame src=b name=Main></frameset>', '<http://site/a> [Main](http://site/b)'],
    ['a heading of several lines', '<h2>A<br><span>B</span><p>C</p></h2>', '## A B C'],
    ['a link that is a drawing', '<a href=/x title=Home><svg/></a>', '[Home](http://site/x "Home")'],
    ['preformatted text with code', '<pre><code class="language-js">a\n\n\nb</code></pre>', '```js\na\n\n\nb\n```'],
    [
      'preformatted text in a list',
      '<ol><li>A<pre><code>if x:\n\n\n\n  y\n</code></pre><li>B</ol>',
      '1. A  \n```  \nif x:\n\n\n\n  y\n```\n2. B',
    ],
    [
      'preformatted text in a nested list',
      '<ul><li>A<ul><li>B<pre>  a\n\nb</pre></ul></ul>',
      '- A\n  - B  \n  ```  \n    a\n  \n  b\n  ```',
    ],
    ['preformatted text in a quote', '<blockquote><pre>a\n  b</pre></blockquote>', '> ```\n> a\n>   b\n> ```'],
    ['preformatted text of blocks', '<pre><div>a</div><div>b</div>c<br>d</pre>', '```\na\nb\nc\nd\n```'],
    ['preformatted text with a fence', '<pre>\n```sh\na\n```\n</pre>', '````\n```sh\na\n```\n````'],
    ['preformatted text in a link', '<a href=/x><pre>a\nb</pre></a>', '[ a b ](http://site/x)'],
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
    for (const base of ['http://[', 'javascript:x', 'data:text/html,x', ''])
      expect((await read(`<base href="${base}"><a href=x>a</a>`, 'markdown')).body).toBe('[a](http://site/x)');
  });

  it('keeps the columns of a table with bars in links', async () => {
    const { body } = await read('<table><tr><td><a href="/x?a|b|c">l</a><td>A</table>', 'markdown');
    expect(body.split('\n')[0]).toBe('| [l](http://site/x?a%7Cb%7Cc) | A |');
  });

  it('reads the title of the page, not of a drawing or a script', async () => {
    const html = '<script>"<title>no</title>"</script><svg><title>no</title></svg><title> A &lt;b&gt;\n &amp; <i>C </title><p>B</p>';
    expect(await read(html)).toEqual({ body: 'B', title: 'A <b> & <i>C' });
  });

  it('keeps the words of a page that is too deep for its structure', async () => {
    const html = `<p title="<svg>">A</p><script>"<p>no"</script>${'<div>'.repeat(20_000)}<svg/>B &lt;c&gt;`;
    expect(await wordsOf(html)).toBe('A B <c>');
  });

  it('keeps the words of a page with multiplying tags', async () => {
    const fonts = Array.from({ length: 4_000 }, (_unused, n) => `<font size=${n}>`).join('');
    expect(await wordsOf(`<p>A${fonts}${'<p>x'.repeat(4_000)}<p>B`)).toMatch(/^A x x .* x B$/);
  });
});
