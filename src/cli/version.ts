/** Set by the build from package.json. */
declare const LKM_VERSION: string;

export const version = typeof LKM_VERSION === 'undefined' ? '0.0.0-dev' : LKM_VERSION;
