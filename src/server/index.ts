/** The server, for programs that run it themselves. */
export { LocalError } from '../store/local-error.ts';
export { type Instance, openInstance } from './instance.ts';
export { type RunningServer, type ServeOptions, startServer } from './serve.ts';
