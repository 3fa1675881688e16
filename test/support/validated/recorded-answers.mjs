import { createServer } from 'node:http';

/** Header by which the proxy's request names the answer that it is to get. */
export const RECORDED = 'x-recorded-answer';

/**
 * The upstream of the validating proxy: it gives each answer of a gateway once more. The tests talk to the gateways
 * themselves, so that the proxy changes nothing of what they see, and streams are not held up.
 */
export async function startRecordedAnswers() {
  const answers = new Map();
  let judged = 0;
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const id = String(request.headers[RECORDED] ?? '');
    if (request.method === 'POST' && request.url === '/record') {
      answers.set(id, JSON.parse(body));
      response.end();
      return;
    }
    const answer = answers.get(id);
    if (answers.delete(id)) judged++;
    response.writeHead(answer?.status ?? 200, answer?.headers ?? {});
    response.end(answer && Buffer.from(answer.body, 'base64'));
  });
  // No idle connection is closed while a record is on its way.
  server.keepAliveTimeout = 0;
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    judged: () => judged,
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
