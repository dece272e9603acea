export const ci = (): string =>
  [
    'Give the token in LKM_TOKEN, or in a file with --token-file; never on the',
    'command line. Where CI is set nothing is asked: what needs a confirmation takes',
    '--yes or --confirm ID, and ends with exit code 3 without it.',
    '',
    '  export LKM_BASE_URL=https://licensing.example.com LKM_PRODUCT=prod_…',
    '  KEY=$(lkm keys create --expires 1y --idempotency-key "order-$ORDER")',
    '',
    'Tests need no service and no secrets: every command takes a database instead.',
    '',
    '  export LKM_DB=$(mktemp -d)/lkm.db',
    '  export LKM_PRODUCT=$(lkm products create --name test -q)',
    '  KEY=$(lkm keys create)',
    '',
    'Decide by exit code: lkm help exit-codes.',
    '',
  ].join('\n');
