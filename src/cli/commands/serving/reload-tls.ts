import type { RunningServer } from '../../../server/serve.ts';
import type { CommandContext } from '../../context.ts';
import { readTls, type TlsOptions } from '../../values/files.ts';

/** Reads certificate and key anew at each SIGHUP; connections that are open keep the old ones. */
export function reloadOnHangup(values: TlsOptions, server: RunningServer, { io, say, onClose }: CommandContext): void {
  const stop = io.onHangup(() => {
    void (async () => {
      try {
        const tls = await readTls(values, io);
        if (tls !== undefined) server.reloadTls(tls);
        await say({ tone: 'done', text: 'certificate and key read again' });
      } catch (error) {
        const text = `certificate and key stay as they were: ${error instanceof Error ? error.message : error}`;
        await say({ tone: 'warning', text });
      }
    })();
  });
  onClose(async () => stop());
}
