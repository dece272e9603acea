import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createFolder } from '../support/engines.ts';

/** Chromium as Debian packs it, or what `LKM_TEST_CHROMIUM` names; null where there is none. */
export const chromium: string | null =
  [process.env.LKM_TEST_CHROMIUM, '/usr/bin/chromium'].find((path) => path !== undefined && existsSync(path)) ?? null;

export type Tab = Awaited<ReturnType<typeof openTab>>;

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly result?: never;
  readonly error?: { readonly message: string };
}

/** Opens a tab of a browser of its own, driven by the DevTools protocol. */
export async function openTab(path: string) {
  const folder = await createFolder();
  const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', '--remote-debugging-port=0'];
  const browser = spawn(path, [...flags, `--user-data-dir=${folder.path}`, 'about:blank'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const socket = new WebSocket(await pageAddress(await debuggerAddress(browser)));
  await new Promise((resolve) => socket.addEventListener('open', resolve, { once: true }));
  const waiting = new Map<number, PromiseWithResolvers<never>>();
  const heard = new Map<string, () => void>();
  let sent = 0;
  socket.addEventListener('message', ({ data }) => {
    const { id, method = '', result, error }: Message = JSON.parse(String(data));
    heard.get(method)?.();
    const call = waiting.get(id ?? 0);
    if (error !== undefined) call?.reject(new Error(error.message));
    else call?.resolve(result as never);
  });

  function send<T>(method: string, params: object = {}): Promise<T> {
    sent += 1;
    const call = Promise.withResolvers<never>();
    waiting.set(sent, call);
    socket.send(JSON.stringify({ id: sent, method, params }));
    return call.promise;
  }

  /** Does something that loads a page, and waits until it has loaded. */
  async function loading(work: () => Promise<unknown>): Promise<void> {
    const loaded = new Promise<void>((resolve) => heard.set('Page.loadEventFired', resolve));
    await work();
    await loaded;
  }

  async function evaluate<T>(expression: string): Promise<T> {
    const params = { expression, awaitPromise: true, returnByValue: true };
    const { result, exceptionDetails } = await send<{ result: { value: T }; exceptionDetails?: { text: string } }>(
      'Runtime.evaluate',
      params,
    );
    if (exceptionDetails !== undefined)
      throw new Error(`${expression.slice(0, 80)}: ${JSON.stringify(exceptionDetails)}`);
    return result.value;
  }

  await send('Page.enable');
  return {
    send,
    evaluate,
    loading,
    open: (url: string) => loading(() => send('Page.navigate', { url })),
    /** What a reader sees. */
    text: () => evaluate<string>('document.body.innerText'),
    /** Presses a key as a person does. */
    async press(key: 'Tab' | 'Enter'): Promise<void> {
      const code = key === 'Tab' ? 9 : 13;
      const pressed = { key, code: key, windowsVirtualKeyCode: code, ...(key === 'Enter' && { text: '\r' }) };
      await send('Input.dispatchKeyEvent', { type: 'keyDown', ...pressed });
      await send('Input.dispatchKeyEvent', { type: 'keyUp', ...pressed });
    },
    /** A picture of the whole page, PNG. */
    async picture(): Promise<Buffer> {
      const { data } = await send<{ data: string }>('Page.captureScreenshot', { captureBeyondViewport: true });
      return Buffer.from(data, 'base64');
    },
    async [Symbol.asyncDispose]() {
      socket.close();
      const ended = new Promise((resolve) => browser.once('exit', resolve));
      browser.kill();
      await ended;
      await folder[Symbol.asyncDispose]();
    },
  };
}

const debuggerAddress = (browser: ChildProcess): Promise<string> =>
  new Promise((resolve, reject) => {
    let told = '';
    browser.stderr?.on('data', (chunk) => {
      told += String(chunk);
      const [, address] = /DevTools listening on ws:\/\/([^/\s]+)/.exec(told) ?? [];
      if (address !== undefined) resolve(address);
    });
    browser.once('exit', () => reject(new Error(`chromium does not start: ${told}`)));
  });

async function pageAddress(address: string): Promise<string> {
  const targets = (await (await fetch(`http://${address}/json`)).json()) as {
    type: string;
    webSocketDebuggerUrl: string;
  }[];
  const page = targets.find(({ type }) => type === 'page');
  if (page === undefined) throw new Error('chromium has no page');
  return page.webSocketDebuggerUrl;
}
