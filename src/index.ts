/** The package's main entry: the typed client, and the verifier of licence files for the software that is licensed. */
export * from './client/index.ts';
export type { LicenseClaims } from './domain/license-file/claims.ts';
export type { Verdict, Verification } from './domain/license-file/verify.ts';
export { type VerifyLicenseFileOptions, verifyLicenseFile } from './verify.ts';
