/** What helps, and the command line for it. */
export type Fix = readonly [label: string, command: string];

/** What a fix is for, as words of a shell. */
export interface FixSubject {
  readonly key: string;
  readonly product: string;
  /** The host that wanted to use the key. */
  readonly host: string;
}

/** The command lines that make a rule pass, by its reason. */
export function fixesFor(reason: string, { key, product, host }: FixSubject): readonly Fix[] {
  const on = `${key} -P ${product}`;
  const seeDevices: Fix = ['See its devices:', `lkm devices list ${on}`];
  const fixes: Readonly<Record<string, readonly Fix[]>> = {
    licenseDisabled: [['Enable it:', `lkm keys unblock ${on}`]],
    licenseExpired: [['Renew it:', `lkm keys renew ${on} --for 1y`]],
    customerInactive: [
      ['See its customer:', `lkm keys get ${on} --fields customerId`],
      ['Make it active:', 'lkm customers update CUSTOMER --active'],
    ],
    // The hosts that are named replace those that were allowed before.
    deviceNotAllowed: [
      ['See who is allowed:', `lkm keys get ${on} --fields allowedHosts`],
      ['Allow it beside them:', `lkm keys update ${on} --allow-host HOST --allow-host ${host}`],
    ],
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
