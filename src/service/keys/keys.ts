import type { keys, keyWhy } from '../../contract/keys/keys.ts';
import { allows, canAccessProduct, seesWholeLicense } from '../../domain/access.ts';
import { decide } from '../../domain/rules.ts';
import { EPOCH } from '../../domain/time.ts';
import type { KeyAddress } from '../../store/tables/keys/keys.ts';
import { listFiles } from '../license-files.ts';
import { anyone, type Operations, onProduct, orThrow } from '../operation.ts';
import { loadFacts } from '../rules.ts';
import { byKey, foundByKey } from './find.ts';
import { countIssue, issue, issueUnlessThere, revealExisting } from './issue.ts';
import { linksOf, showLicense, showSession } from './show.ts';

export const keyOperations: Operations<typeof keys & typeof keyWhy> = {
  create: {
    authorize: onProduct('productUnavailable'),
    authorizeReplay: countIssue,
    async perform(context, input) {
      if (input.ifAbsent !== true) return issue(context, input);
      return (await revealExisting(context, input)) ?? issueUnlessThere(context, input);
    },
  },

  get: {
    // Without a product, `perform` checks access to the product of the key. A reference is the vendor's: users of the
    // application must not try references.
    authorize: (caller, input) =>
      onProduct('licenseNotFound', anyone)(caller, input) ??
      (input.reference === undefined || seesWholeLicense(caller) ? null : 'scopeMissing'),
    async perform(context, input) {
      const { repositories, caller, now } = context;
      const { keys } = repositories;
      const { accountId } = caller;
      const { licenseKey, reference = '' } = input;
      async function find(address: KeyAddress) {
        const productId = input.productId ?? (await keys.findProduct(accountId, address));
        if (productId === null || !canAccessProduct(caller, productId)) return null;
        return await keys.findWithCustomer(accountId, productId, address);
      }
      // Staff find a licence by an ended earlier key, too.
      const at = { ...context, now: seesWholeLicense(caller) ? EPOCH : now };
      const { license, customer, productName, hasFiles } =
        licenseKey === undefined
          ? orThrow(await find({ reference }), 'licenseNotFound')
          : foundByKey(await byKey(at, licenseKey, (key) => find({ licenseKey: key })), licenseKey, 'licenseNotFound');
      // Most requested keys have neither devices nor files: then a single statement is enough.
      const devices = license.activations === 0 ? [] : await repositories.devices.list(license);
      const shown = {
        ...showLicense(license, devices, caller, await linksOf(context, license)),
        ...(allows(caller, 'product:read') && { productName }),
      };
      if (!seesWholeLicense(caller)) return { license: shown, customer: customer && { ...customer, email: null } };
      const sessions = license.licenseType === 'floating' ? await repositories.sessions.listLive(license, now) : null;
      return {
        license: shown,
        customer,
        ...(sessions && { sessions: sessions.map(showSession) }),
        files: hasFiles ? await listFiles(context, license) : [],
      };
    },
  },

  why: {
    // A client may ask about its own device only.
    authorize: (caller, input) =>
      onProduct('licenseNotFound')(caller, input) ??
      (input.hostId !== undefined || seesWholeLicense(caller) ? null : 'invalidParams'),
    async perform(context, { hostId = null, action = 'activate', at = context.now, ...address }) {
      const { rules, refusal } = decide(action, await loadFacts(context, action, { ...address, hostId, at }));
      return { allowed: refusal === null, action, at, rules: [...rules] };
    },
  },
};
