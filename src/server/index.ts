/** The server, for programs that run it themselves. */
export { StartupError } from '../store/errors.ts';
export { type Instance, openInstance } from './runtime.ts';
export { createLogSink, type RunningServer, type ServeOptions, startServer } from './serve.ts';
export { createTestClock, type TestClock } from './test-clock.ts';
