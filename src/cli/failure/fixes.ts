import type { Hint } from './errors.ts';

/** What a fix is for, as words of a shell. */
export interface FixSubject {
  readonly key: string;
  readonly product: string;
  /** The host that wanted to use the key. */
  readonly host: string;
}

/** The command lines that make a rule pass, by its reason. */
export function fixesFor(reason: string, { key, product, host }: FixSubject): readonly Hint[] {
  const on = `${key} -P ${product}`;
  const seeDevices: Hint = ['See its devices:', `lkm devices list ${on}`];
  const fixes: Readonly<Record<string, readonly Hint[]>> = {
    licenseDisabled: [['Enable it:', `lkm keys unblock ${on}`]],
    licenseExpired: [['Renew it:', `lkm keys renew ${on} --for 1y`]],
    customerInactive: [
      ['See its customer:', `lkm keys get ${on} --fields customerId`],
      ['Make it active:', 'lkm customers update CUSTOMER --active'],
    ],
    deviceNotAllowed: [['Allow it:', `lkm keys update ${on} --allow-host ${host}`]],
    wrongLicenseType: [['Make it floating:', `lkm keys update ${on} --type floating`]],
    activationLimit: [seeDevices, ['Free a slot:', `lkm keys deactivate ${on} --host-id HOST`]],
    sessionLimit: [
      ['See its sessions:', `lkm sessions list --key ${key}`],
      ['Free a seat:', 'lkm sessions release SESSION'],
    ],
    notActivated: [['Activate it:', `lkm keys activate ${on} --host-id ${host}`]],
    deviceNotFound: [seeDevices],
  };
  return fixes[reason] ?? [];
}
