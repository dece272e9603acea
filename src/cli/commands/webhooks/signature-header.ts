import { SIGNATURE_HEADER, signatureHeaderProblem } from '../../../domain/webhooks/signature.ts';
import { option } from '../../command.ts';
import { UsageError } from '../../failure/errors.ts';

export const signatureHeader = option(
  '--webhook-signature-header <NAME>',
  `the header of the timestamped signatures of webhooks (${SIGNATURE_HEADER})`,
  (name: string) => {
    const why = signatureHeaderProblem(name);
    if (why !== null) throw new UsageError(`'${name}' ${why}`);
    return name;
  },
);
