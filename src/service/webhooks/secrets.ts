import type { WebhookRecord } from '../../store/tables/webhooks/webhooks.ts';

/** Whose secret it is: one that is moved to another webhook does not open. */
export type SecretOwner = Pick<WebhookRecord, 'accountId' | 'id'>;

/** How secrets of webhooks are stored. */
export interface SecretStorage {
  sealSecret(secret: string, owner: SecretOwner): string;
  /** Throws when the stored text was not made by `sealSecret` for this owner. */
  openSecret(stored: string, owner: SecretOwner): string;
}

/** What a secret that is stored in clear begins with. */
const CLEAR = 'clear:';

/** Stores secrets as they are, with a word that says so. */
export const clearSecrets: SecretStorage = {
  sealSecret: (secret) => CLEAR + secret,
  openSecret(stored) {
    if (!stored.startsWith(CLEAR)) throw new Error('the secret of a webhook was stored in another way');
    return stored.slice(CLEAR.length);
  },
};
