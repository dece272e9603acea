export const idempotency = (): string =>
  [
    'Every command that changes something sends an idempotency key, a new one each',
    'time. All attempts of one command carry the same key, so a retry gets the first',
    'answer, a licence key included, and nothing happens twice. The service keeps',
    'these answers for 24 hours.',
    '',
    'When no answer came, the command ends with exit code 8 and shows the key and',
    'the command that repeats the request:',
    '',
    '  $ lkm keys create -P "$PRODUCT" --idempotency-key 6f1e0c0e-…',
    '',
    'Scripts that may be run again can name the key themselves, for example after the',
    'order they fulfil. A key that was used for another request is refused.',
    '',
  ].join('\n');
