import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { command } from '../command.ts';
import { locate } from '../config/location.ts';

export const quickstart = command({
  about:
    'Takes the whole tour in a second, without a server: a product, a customer, a key, a signed licence file, ' +
    'its verification, and the device freed again. All of it stays in a new database file, or in that of --db.',
  fields: ['db', 'product', 'customer', 'key', 'file', 'verdicts'],
  examples: [
    ['lkm quickstart', 'on a new database'],
    ['lkm quickstart --db ./lkm.db', 'on a file of your choice'],
    ['lkm quickstart --format env', 'for eval: LKM_DB and LKM_PRODUCT are those of the tour'],
  ],

  async run(_, { io, flags }) {
    const folder = join(io.tempDir, `lkm-quickstart-${io.uuid().slice(0, 8)}`);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const db = flags.db === undefined ? join(folder, 'lkm.db') : locate(flags.db, io);
    const { renderTour, takeTour } = await import('./quickstart-tour.ts');
    const tour = await takeTour({ db, file: join(folder, 'build-01.lic') }, io);
    const { product, customer, key, file, verdicts } = tour;
    const row = { db: tour.db, product, customer, key, file, verdicts };
    return {
      kind: 'text',
      draw: (view) => renderTour(tour, view, io.env),
      rows: [{ ...row, product: product.id, customer: customer.id }],
      data: row,
      quiet: [key],
      secret: true,
    };
  },
});
