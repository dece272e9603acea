import express from 'express';
import { verifyWebhook } from 'lkm/webhooks';

//   LKM_WEBHOOK_SECRET=whsec_… PORT=3000 npx node examples/webhooks/express.ts

const secret = process.env.LKM_WEBHOOK_SECRET ?? '';
const app = express();

// The exact bytes: what express.json() has parsed cannot be verified any more.
app.post('/hook', express.raw({ type: 'application/json' }), (request, response) => {
  try {
    const event = verifyWebhook(request.headers, request.body, secret);
    // An event may come twice, with the same id: remember the ids, or make the work such that twice does no harm.
    console.log(event.seq, event.type, event.id);
    response.sendStatus(204);
  } catch {
    response.sendStatus(401);
  }
});

const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  console.log('ready', server.address());
});
