/**
 * The rows of every table. Columns are text and integer only, the same on both engines:
 * instants are ISO text, flags are 0 or 1, lists and objects are JSON text.
 */
export interface Tables {
  accounts: AccountRow;
  tokens: TokenRow;
  signing_keys: SigningKeyRow;
  products: ProductRow;
  customers: CustomerRow;
  licenses: LicenseRow;
  devices: DeviceRow;
  sessions: SessionRow;
  idempotency: IdempotencyRow;
  audit: AuditRow;
}

/** 0 is no, 1 is yes. */
type Flag = 0 | 1;

export interface AccountRow {
  id: string;
  name: string;
  created_at: string;
}

export interface TokenRow {
  account_id: string;
  id: string;
  /** Hex SHA-256 of the secret, which itself is kept nowhere. */
  hash: string;
  name: string;
  kind: string;
  scopes: string;
  product_ids: string | null;
  max_issues: number | null;
  issued: number;
  expires_at: string | null;
  revoked_at: string | null;
  created_at: string;
}

export interface SigningKeyRow {
  account_id: string;
  kid: string;
  private_pem: string;
  public_pem: string;
  created_at: string;
}

export interface ProductRow {
  account_id: string;
  id: string;
  name: string;
  active: Flag;
  created_at: string;
  updated_at: string;
}

export interface CustomerRow {
  account_id: string;
  id: string;
  name: string;
  email: string | null;
  /** The e-mail address as it is compared: without case. */
  email_key: string | null;
  active: Flag;
  created_at: string;
  updated_at: string;
}

export interface LicenseRow {
  account_id: string;
  id: string;
  product_id: string;
  license_key: string;
  customer_id: string | null;
  max_activations: number | null;
  /** Always the number of rows in `devices`: both change in one transaction. */
  activations: number;
  expires_at: string | null;
  features: string;
  metadata: string;
  is_trial: Flag;
  allowed_hosts: string | null;
  license_type: string;
  max_sessions: number | null;
  heartbeat_seconds: number;
  lease_seconds: number;
  customer_can_self_reset: Flag;
  vendor_disabled: Flag;
  version_id: string | null;
  created_at: string;
  updated_at: string;
}

export interface DeviceRow {
  account_id: string;
  license_id: string;
  host_id: string;
  id: string;
  tag: string | null;
  ip_address: string;
  created_at: string;
}

export interface SessionRow {
  account_id: string;
  license_id: string;
  id: string;
  host_id: string | null;
  tag: string | null;
  user_identifier: string | null;
  secret: string;
  nonce: string;
  expires_at: string;
  created_at: string;
}

export interface IdempotencyRow {
  account_id: string;
  /** Stands for the idempotency key, which itself is kept nowhere. */
  key_hash: string;
  fingerprint_version: number;
  fingerprint: string;
  state: 'in_progress' | 'completed';
  method: string;
  path: string;
  token_id: string | null;
  /** Opened by the idempotency key alone. */
  sealed_response: string | null;
  created_at: string;
}

export interface AuditRow {
  account_id: string;
  id: string;
  action: string;
  actor: string;
  subject: string;
  details: string;
  created_at: string;
}
