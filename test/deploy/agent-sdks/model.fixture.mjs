// A provider's API: answers each request with the next text of a script.
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';

export async function startModel(answers) {
  const requests = [];
  const server = createServer(async (request, response) => {
    const answer = answers[requests.push(await json(request)) - 1];
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${server.address().port}`, requests, close: () => server.close() };
}
