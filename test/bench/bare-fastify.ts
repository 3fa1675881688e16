import { fastify } from 'fastify';

/** The least an HTTP front can do: parse the JSON and send it back. `node bare-fastify.js <port>`. */
const app = fastify();
app.post('/echo', (request, reply) => reply.send(request.body));
await app.listen({ host: '127.0.0.1', port: Number(process.argv[2]) });
process.send?.('ready');
