import type { CommandContext } from '../../context.ts';
import { LocalError } from '../../failure/errors.ts';
import { datesProblem, readTls, type TlsFiles, type TlsOptions } from '../../values/tls-files.ts';

/** A server that takes another certificate while it runs. */
interface Reloadable {
  reloadTls(tls: TlsFiles): void;
}

/** Reads certificate and key anew at each SIGHUP; connections that are open keep the old ones. */
export function reloadOnHangup(values: TlsOptions, server: Reloadable, { io, say, onClose }: CommandContext): void {
  const stop = io.onHangup(() => {
    void (async () => {
      try {
        const tls = await readTls(values, io);
        const problem = tls === undefined ? null : datesProblem(tls, io.now());
        if (problem !== null) throw new LocalError(problem);
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
