import { fastify } from 'fastify';
import { verifyWebhook } from 'lkm/webhooks';

//   LKM_WEBHOOK_SECRET=whsec_… PORT=3000 npx node examples/webhooks/fastify.ts

const secret = process.env.LKM_WEBHOOK_SECRET ?? '';
const app = fastify();

// The exact bytes: what Fastify has parsed cannot be verified any more.
app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));

app.post<{ Body: Buffer }>('/hook', async (request, reply) => {
  try {
    const event = verifyWebhook(request.headers, request.body, secret);
    // An event may come twice, with the same id: remember the ids, or make the work such that twice does no harm.
    console.log(event.seq, event.type, event.id);
    return reply.code(204).send();
  } catch {
    return reply.code(401).send();
  }
});

await app.listen({ port: Number(process.env.PORT ?? 3000), host: '127.0.0.1' });
console.log('ready', app.server.address());
