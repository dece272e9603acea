const at = '2026-11-21T10:00:00.000Z';

const productId = 'prod_01jd7q3v6ye2wb8x5k9m4n0r7t';

const customerId = 'cus_01jd7q41c8fzks2v0t9e6h3m5p';

const accountId = 'acc_01jd7q2h0t5v9k3f8s6w4e1m7x';

const licenseKey = '7KQ2M-X9D4R-HTB31-0WVJ6-85SB5';

const customerSummary = { id: customerId, name: 'Ada Ltd', email: 'it@ada.example', active: true };

const sessionId = 'ses_01jd7q7h4r8bm2k6v0x9w5t3cz';

const token = {
  id: 'tok_01jd7q5d2m4xw8a6r1b0y7n9c3',
  name: 'shop',
  kind: 'scoped',
  scopes: ['license:write'],
  productIds: [productId],
  networks: ['203.0.113.0/24'],
  maxIssues: 1_000,
  issued: 0,
  rateLimit: null,
  expiresAt: '2027-11-21T10:00:00.000Z',
  revokedAt: null,
  lastUsedOn: null,
  createdAt: at,
};

const kid = 'q1XrLr4hYgNq1b8bq8mJqj2m0m0w0n1o5a9c3d7e8f0';

const jwk = {
  kty: 'OKP',
  crv: 'Ed25519',
  alg: 'EdDSA',
  use: 'sig',
  kid,
  x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
};

const fingerprint = 'sha256:ab57eb2eb8788a0d6ad5bf1babc9898aa3d9a0da3f3d0b6c2b2f0d6b5e4c3a21';

const version = {
  id: 'ver_01jd7q8k5m3wz0t7c2x9v4b6rn',
  version: '2.1',
  description: 'The autumn release',
  active: true,
};

const listedLicense = {
  id: 'lic_01jd7q4xk1ffvr3h8n5p6m2w9t',
  key: '*****-*****-*****-*****-85SB5',
  productId,
  customerId,
  maxActivations: 5,
  activations: 1,
  activated: true,
  expirationDate: '2027-11-21T10:00:00.000Z',
  metadata: { features: { sso: true }, is_trial: false, plan: 'pro' },
  allowedHosts: null,
  licenseType: 'node-locked',
  maxConcurrentSessions: null,
  heartbeatInterval: 300,
  sessionLeaseDuration: 900,
  customerCanSelfReset: false,
  vendorDisabled: false,
  versionId: version.id,
  version,
  createdAt: at,
  updatedAt: at,
};

const webhook = {
  id: 'whk_01jd7q9m3t6xa2w8r5b0y7n1c4',
  url: 'https://shop.example.com/hooks/lkm',
  types: ['license.created'],
  description: 'shop',
  reveal: false,
  ordered: false,
  active: true,
  apiVersion: '2026-11-21',
  lastSeq: 42,
  failingSince: null,
  disabledAt: null,
  disabledReason: null,
  previousSecretUntil: null,
  createdAt: at,
  updatedAt: at,
};

/** One of everything, for the examples of endpoints. The values are made up. */
export const examples = {
  accountId,
  product: { id: productId, name: 'Editor', active: true, createdAt: at, updatedAt: at },
  version: { ...version, createdAt: at },
  listedLicense,
  customerSummary,
  customer: { ...customerSummary, createdAt: at, updatedAt: at, createdBy: accountId },
  token,
  issuedToken: { ...token, token: 'lkm_scoped_3m9x0v7q5k1c8w2d6t4n0f7h5j3p9r1b8y6z2a4e0s7g5k3m9q1v8cjw4t2n6' },
  device: { productId, licenseKey, hostId: 'host-1' },
  license: {
    id: 'lic_01jd7q4xk1ffvr3h8n5p6m2w9t',
    key: '*****-*****-*****-*****-85SB5',
    productId,
    maxActivations: 5,
    activations: 1,
    activated: true,
    expirationDate: '2027-11-21T10:00:00.000Z',
    reference: 'order-1042',
    expiresAfter: null,
    gracePeriod: 'P14D',
    graceUntil: '2027-12-05T10:00:00.000Z',
    metadata: { features: { sso: true }, is_trial: false, orderNumber: 'A-1042' },
    allowedHosts: null,
    licenseType: 'node-locked',
    maxConcurrentSessions: null,
    heartbeatInterval: 300,
    sessionLeaseDuration: 900,
    customerCanSelfReset: false,
    vendorDisabled: false,
    devices: [
      {
        id: 'dev_01jd7q6b9n3zt5c8y2x4w6v0qk',
        hostId: 'host-1',
        deviceTag: 'No tag',
        ipAddress: '203.0.*.*',
        activationTime: at,
      },
    ],
    versionId: null,
    version: null,
    createdAt: at,
    updatedAt: at,
  },
  licenseFile: JSON.stringify({
    format: 'lkm-lic/1',
    licenseToken: 'eyJhbGciOiJFZERTQSIsInR5cCI6ImxpYytqd3QiLCJraWQiOiIuLi4ifQ.eyJ2IjoxfQ.c2lnbmF0dXJl',
    signedKey: licenseKey,
    signedDate: at,
    keyId: kid,
    publicKeyFingerprint: fingerprint,
  }),
  session: {
    message: 'Session checked out',
    sessionId,
    sessionSecret: '9vZ4f1uQ8mYwX2b7R0cT5kL3nP6sD8aJ1eG4hV7iW9o',
    nextNonce: 'b7R0cT5kL3nP6sD8aJ1eG4',
    expiresAt: '2026-11-21T10:15:00.000Z',
    heartbeatInterval: 300,
    currentSessions: 1,
    maxSessions: 10,
  },
  listedSession: {
    id: sessionId,
    hostId: 'host-1',
    deviceTag: 'No tag',
    userIdentifier: null,
    createdAt: at,
    expiresAt: '2026-11-21T10:15:00.000Z',
  },
  heartbeat: {
    sessionId,
    timestamp: 'b7R0cT5kL3nP6sD8aJ1eG4',
    signature: '471bd6d3f60289af60d4c0a7ab16536678d48c980d17b72edf26fe62f880173e',
  },
  prolonged: {
    message: 'Session prolonged',
    expiresAt: '2026-11-21T10:20:00.000Z',
    nextNonce: 'Yw3kQm9tZ1xC8vB5nR2pL7',
  },
  signedFile: {
    id: 'fil_01jd7q8k2m5xw9a7r0b1y8n4c6',
    hostId: 'host-1',
    kid,
    signedAt: at,
    endsAt: '2027-11-21T10:00:00.000Z',
    revokedAt: null,
  },
  jwk,
  signingKey: {
    kid,
    fingerprint,
    current: true,
    publicKey:
      '-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n-----END PUBLIC KEY-----\n',
    jwk,
    createdAt: at,
  },
  revocationList:
    'eyJhbGciOiJFZERTQSIsInR5cCI6ImxpYy1yZXYrand0Iiwia2lkIjoiLi4uIn0.eyJzZXEiOjEsImZpbGVzIjpbXSwibGljZW5zZXMiOltdfQ.c2lnbmF0dXJl',
  event: {
    id: 'evt_01jd7q8k5v1n4c7w0x2z6b9t3m',
    seq: 42,
    type: 'license.created',
    api_version: '2026-11-21',
    created_at: at,
    resource_type: 'license',
    resource_id: 'lic_01jd7q4xk1ffvr3h8n5p6m2w9t',
    actor: { type: 'token', id: token.id },
    request_id: '4b0c2a4e-0c9e-4d0a-9a55-1f5e3c2d7b11',
    address: '203.0.*.*',
    data: { productId, customerId, key: '*****-*****-*****-*****-85SB5' },
  },
  auditRow: {
    seq: 7,
    id: 'aud_01jd7q8k5v1n4c7w0x2z6b9t3m',
    at,
    actor: { type: 'token', id: token.id },
    token: token.id,
    address: '203.0.*.*',
    door: 'http',
    request_id: '4b0c2a4e-0c9e-4d0a-9a55-1f5e3c2d7b11',
    operation: 'keys.create',
    resource: { type: 'license', id: 'lic_01jd7q4xk1ffvr3h8n5p6m2w9t' },
    outcome: 'done',
    details: { productId, customerId, key: '*****-*****-*****-*****-85SB5' },
    salt: null,
    hash: '9c1f0d2b7e4a5c3f8b6d0e1a2c4f5b7d9e0a1c3f5b7d8e9a0c2f4b6d8e1a3c5f',
  },
  checkpoint: {
    accountId,
    seq: 7,
    hash: '9c1f0d2b7e4a5c3f8b6d0e1a2c4f5b7d9e0a1c3f5b7d8e9a0c2f4b6d8e1a3c5f',
    at,
    kid: 'q1XrLr4hYgNq1b8bq8mJqj2m0m0w0n1o5a9c3d7e8f0',
    signature: '5Yp0hX2rP1w8dQ3vJ6mC9sT4bN7kL0fG2hR5yU8iO1pA3sD6fG9hJ2kL5zX8cV1bN4mQ7wE0rT3yU6iO9pA2sD',
  },
  webhook,
  issuedWebhook: { ...webhook, secret: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDazp5c1Zk0ts=' },
  delivery: {
    seq: 42,
    eventId: 'evt_01jd7q8k5v1n4c7w0x2z6b9t3m',
    type: 'license.created',
    state: 'delivered',
    attempts: 1,
    status: 204,
    error: null,
    answer: null,
    durationMs: 38,
    attemptedAt: at,
    nextAttemptAt: null,
  },
  page: { total: 1, page: 1, limit: 100, totalPages: 1 },
};
