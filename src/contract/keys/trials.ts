import { endpoint } from '../endpoint.ts';
import { request } from '../fields.ts';
import { bare } from '../reply.ts';
import { EndText, HostId, LicenseKey, PlanId, ProductId, ShownKey, shown, text } from '../scalars.ts';
import { Device } from './licenses.ts';

export const keyTrials = {
  /** Gives a device its one trial of a product. Source: decision 0004. */
  trial: endpoint('POST /key/trial', 'license:activate', {
    summary: 'Start the trial of a device',
    description:
      'Issues a key by a plan for trials and activates it on the device, which alone may use it. A device has one trial ' +
      'of a product, for ever: while that runs, the same key is returned, and after it the request is refused.',
    openToClients: true,
    body: request('StartTrialRequest', {
      productId: ProductId,
      planId: PlanId.describe('A plan of the product whose keys are trials'),
      hostId: HostId,
      deviceTag: text(1, 64).optional().describe('What people call the device'),
    }),
    reply: bare('StartTrialResponse', {
      message: shown('"Trial started" or "Trial running"', 'Trial started'),
      key: ShownKey.meta({ ...LicenseKey.meta(), description: 'The key of the trial, in full' }),
      expirationDate: EndText.describe('When the trial expires'),
      device: Device,
    }),
    headers: ['LKM-Budget-Remaining'],
    errors: ['productUnavailable', 'planNotFound', 'issueLimit', 'trialUsed'],
  }),
};
