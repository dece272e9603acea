import { X509Certificate } from 'node:crypto';
import { dirname } from 'node:path';
import { isPostgres } from '../../config/location.ts';
import type { CommandContext } from '../../context.ts';
import type { Io } from '../../io.ts';
import { loadPreflight, type Preflight } from '../../request/operator.ts';
import { readTls, type TlsFiles, type TlsOptions } from '../../values/tls-files.ts';
import { type Check, fail, ok, runCheck, warn } from '../doctor/check.ts';
import { checkDisk, checkSecrets, lookAt } from '../doctor/database.ts';
import { checkConfigFile, checkStateFolder } from '../doctor/doctor.ts';
import { judgeDates } from '../doctor/network.ts';
import { checkSelfSigning, readSelfSigned } from './tls.ts';

/** What a server is asked to do, before anything of it is done. */
export interface Plan extends TlsOptions {
  readonly db: string;
  readonly host: string;
  readonly port: number;
  readonly tlsSelfSigned: boolean;
  readonly behindProxy: readonly string[];
  /** Whether the database is to be filled, and so has to be new. */
  readonly isSeeded: boolean;
  readonly metrics: { readonly host: string; readonly port: number } | undefined;
  /** Throws `UsageError` for options that do not go together. */
  backups(): { readonly everyMs: number; readonly keep: number; readonly folder: string } | undefined;
}

/** Checks all that a server would need, in the order in which it would; starts nothing and changes nothing. */
export async function checkConfig(plan: Plan, context: CommandContext): Promise<readonly Check[]> {
  const { io } = context;
  const preflight = await loadPreflight();
  return [
    ok('lkm', `${io.version} on Node.js ${io.nodeVersion}, ${io.platform}`),
    await checkConfigFile(context),
    checkStateFolder(context),
    ...(await checkCertificate(plan, context)),
    await runCheck('exposure', async () => checkExposure(plan, preflight)),
    ...(await checkDatabase(plan, context)),
    ...(await checkBackups(plan, preflight)),
    ...(await checkAddresses(plan, preflight)),
  ];
}

async function checkCertificate(plan: Plan, { io }: CommandContext): Promise<readonly Check[]> {
  const found = await runCheck('tls', async () => ({ tls: await certificateOf(plan, io) }));
  if (!('tls' in found)) return [found];
  if (found.tls === undefined) {
    return plan.tlsSelfSigned ? [ok('tls', 'a certificate will be made, and signed by itself')] : [];
  }
  const { subjectAltName, subject, validFrom, validTo } = new X509Certificate(found.tls.cert);
  const names = subjectAltName?.replaceAll(/\b(DNS|IP Address):/g, '') ?? subject;
  const dates = { valid_from: validFrom, valid_to: validTo };
  return [judgeDates(dates, { now: io.now(), before: `for ${names}`, advice: `Renew the one in ${plan.tlsCert}.` })];
}

async function certificateOf(plan: Plan, io: Io): Promise<TlsFiles | undefined> {
  if (!plan.tlsSelfSigned) return readTls(plan, io);
  checkSelfSigning(plan);
  return readSelfSigned(plan, io);
}

function checkExposure({ host, tlsCert, tlsKey, tlsSelfSigned, behindProxy }: Plan, preflight: Preflight): Check {
  // Whether the certificate can be used is a check of its own.
  const isTls = tlsSelfSigned || tlsCert !== undefined || tlsKey !== undefined;
  preflight.checkExposure({ host, behindProxy, ...(isTls && { tls: { cert: '', key: '' } }) });
  const how = isTls ? 'over HTTPS' : 'over plain HTTP';
  const everybody = behindProxy.find((network) => network.endsWith('/0'));
  if (everybody !== undefined) {
    const advice = 'Name the network of the proxy alone: each caller can say any address, and limits are by address.';
    return warn('exposure', `${host}, ${how} behind ${everybody}, which is everybody`, advice);
  }
  return ok(
    'exposure',
    behindProxy.length === 0 ? `${host}, ${how}` : `${host}, ${how} behind ${behindProxy.join(', ')}`,
  );
}

async function checkDatabase({ db, isSeeded }: Plan, { io }: CommandContext): Promise<readonly Check[]> {
  const found = await runCheck('database', () => lookAt(db));
  const disk = isPostgres(db) ? [] : [await runCheck('disk', async () => checkDisk(dirname(db)))];
  if (!('database' in found)) return [found, ...disk];
  const { inspection } = found;
  const seed = fail('seed', `${db} has data already`, '--seed is for a new database: name one that does not exist.');
  return [
    found.database,
    ...(isSeeded && inspection?.isUsed ? [seed] : []),
    await checkSecrets(inspection, io),
    ...disk,
  ];
}

async function checkBackups(plan: Plan, { checkBackupFolder }: Preflight): Promise<readonly Check[]> {
  const found = await runCheck('backups', async () => {
    const schedule = plan.backups();
    if (schedule !== undefined) checkBackupFolder(schedule.folder);
    return { schedule };
  });
  if (!('schedule' in found)) return [found];
  const { schedule } = found;
  if (schedule === undefined) return [];
  return [ok('backups', `every ${schedule.everyMs / 1_000} s into ${schedule.folder}, ${schedule.keep} are kept`)];
}

/** Both are taken before either is let go: they may be one and the same. */
async function checkAddresses({ host, port, metrics }: Plan, preflight: Preflight): Promise<readonly Check[]> {
  const api = await runCheck('address', async () => ({ release: await preflight.tryAddress(host, port) }));
  const scraped =
    metrics &&
    (await runCheck('metrics', async () => ({
      release: await preflight.tryAddress(metrics.host, metrics.port, '--metrics'),
    })));
  const checks = [
    'release' in api ? ok('address', `${host}, ${port === 0 ? 'any free port' : `port ${port} is free`}`) : api,
    ...(scraped === undefined
      ? []
      : ['release' in scraped ? ok('metrics', `${metrics?.host}:${metrics?.port} is free`) : scraped]),
  ];
  for (const taken of [api, scraped]) if (taken !== undefined && 'release' in taken) await taken.release();
  return checks;
}
