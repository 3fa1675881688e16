import { afterEach, describe, expect, it } from '@jest/globals';
import { SourceDefinition } from '#contracts';
import { failureText } from '../failure-text.js';
import { httpMcpServer, type Answering, type HttpMcpServer } from '../testing/http-mcp-server.js';
import { mcpConnector } from '../testing/mcp-connector.js';

const answer =
  (status: number, type: string, body = ''): Answering =>
  (_message, _request, response) =>
    Boolean(response.writeHead(status, { 'content-type': type }).end(body));
const PAGE = '<!doctype html><title>Welcome</title>';

describe('the reason why an MCP server over HTTP is not opened', () => {
  let server: HttpMcpServer | undefined;
  afterEach(() => server?.close());

  const opened = async (answering: Answering, more: object = {}, signal = new AbortController().signal) => {
    server = await httpMcpServer(answering);
    const definition = SourceDefinition.parse({ name: 'x', kind: 'mcp', url: `${server.url}?token=hidden`, ...more });
    if (more === CLOSED) server.close();
    const opening = mcpConnector([server.host]).open({ tenantId: 't', origin: 'api', definition }, signal);
    const text = await opening.then(() => 'opened', failureText);
    return text.replace(server.url, 'URL');
  };
  const CLOSED = {};

  it.each<[string, Answering, string, object]>([
    ['a port at which nothing listens', () => false, 'Connection refused at URL: is the server running?', CLOSED],
    [
      'a server that wants credentials',
      answer(401, 'application/json'),
      'URL requires authorization (HTTP 401): give the source `headers` or `auth`',
      {},
    ],
    [
      'a server that refuses the credentials',
      answer(401, 'application/json'),
      'URL requires authorization (HTTP 401) and refuses the credentials of the source',
      { headers: { authorization: 'Bearer x' } },
    ],
    [
      'a server that denies access',
      answer(403, 'application/json'),
      'URL denies access (HTTP 403): may the credentials of the source use it?',
      {},
    ],
    ['an address without a page', answer(404, 'text/html', PAGE), 'URL is no MCP server (HTTP 404): is the path right?', {}],
    ['a web site', answer(200, 'text/html', PAGE), 'URL is no MCP server (it is not JSON): is the path right?', {}],
    [
      'a server of JSON',
      answer(200, 'application/json', '{"hello":1}'),
      'URL is no MCP server (it has neither a result nor an error): is the path right?',
      {},
    ],
  ])('says of %s what it answers and what to do', async (_what, answering, text, more) => {
    expect(await opened(answering, more)).toBe(text);
  });

  it('reports an MCP server that did not answer in time', async () => {
    const late = new AbortController();
    const silent: Answering = () => {
      late.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
      return true;
    };
    expect(await opened(silent, {}, late.signal)).toBe('No answer in time from URL: does the server hang?');
  });
});
