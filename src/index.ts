/** The package's main entry: the typed client, and the verifier of licence files for the software that is licensed. */
export * from './client/index.ts';
export type { LicenseClaims } from './domain/license-claims.ts';
export type { Verdict, Verification } from './domain/verify-license-file.ts';
export { type VerifyLicenseFileOptions, verifyLicenseFile } from './verify.ts';
