import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { verifyWebhook } from 'lkm/webhooks';

//   LKM_WEBHOOK_SECRET=whsec_… PORT=3000 npx node examples/webhooks/hono.ts

const secret = process.env.LKM_WEBHOOK_SECRET ?? '';
const app = new Hono();

app.post('/hook', async ({ req, body }) => {
  try {
    const event = verifyWebhook(req.raw.headers, await req.text(), secret);
    // An event may come twice, with the same id: remember the ids, or make the work such that twice does no harm.
    console.log(event.seq, event.type, event.id);
    return body(null, 204);
  } catch {
    return body(null, 401);
  }
});

serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 3000), hostname: '127.0.0.1' }, (address) => {
  console.log('ready', address);
});
