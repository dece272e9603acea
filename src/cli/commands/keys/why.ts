import { type Explanation, explainedActions } from '../../../contract/keys/keys.ts';
import { option, productOfKey } from '../../command.ts';
import { type FixSubject, fixesFor } from '../../failure/advice.ts';
import { exitCodes, verdictExitCodes } from '../../failure/errors.ts';
import type { View } from '../../output/result.ts';
import { type Note, sanitise } from '../../output/terminal.ts';
import { moment, quote, yesNo } from '../../output/words.ts';
import { parseInstant } from '../../values/instant.ts';
import { keyCheck, licenseKeyArgument } from '../../values/license-key.ts';
import { readCommand } from '../forms.ts';

type Rule = Explanation['rules'][number];

export const keysWhy = readCommand({
  about:
    'Says whether a device could use a key, rule by rule, and what would help. Changes nothing and takes no slot. Ends ' +
    'with exit code 0 when it could, 1 when it could not.',
  operation: 'keys.why',
  arguments: { key: licenseKeyArgument },
  options: {
    product: productOfKey,
    hostId: option('--host-id <ID>', 'the device; by default a device without a slot'),
    action: option('--action <ACTION>', 'the action; activate unless given', { choices: explainedActions }),
    at: option('--at <INSTANT>', 'when it would do so; now unless given', parseInstant),
    keyCheck,
  },
  fields: ['rule', { name: 'passed', show: yesNo }, 'reason', 'detail'],
  examples: [
    ['lkm keys why "$KEY" --host-id build-01', 'may this device activate?'],
    ['lkm keys why "$KEY" --action checkout --at 2027-12-31T18:00:00Z', 'is there a seat then?'],
  ],

  async read(client, { key, product, hostId, action, at }, context) {
    const { io } = context;
    const productId = await context.productOf(key, product);
    const explanation = await client.keys.why({ productId, licenseKey: key, hostId, action, at });
    const { rules, allowed } = explanation;
    const subject = {
      key: io.stderr.isTTY ? quote(key) : '"$KEY"',
      product: quote(productId),
      host: quote(hostId ?? 'HOST'),
    };
    return {
      kind: 'rows',
      rows: rules,
      data: explanation,
      empty: 'no rules',
      draw: (view) => listRules(rules, view),
      quiet: [rules.find(({ passed }) => !passed)?.reason ?? 'allowed'],
      notes: notesOn(explanation, subject),
      exitCode: allowed ? exitCodes.ok : verdictExitCodes.negative,
    };
  },
});

/** The marks need no colour. */
function listRules(rules: readonly Rule[], { paint }: View): string {
  const width = Math.max(...rules.map(({ rule }) => rule.length));
  return rules
    .map(({ rule, passed, detail }) => {
      const mark = passed ? paint.green('✓') : paint.red('✗');
      return `${mark} ${sanitise(rule).padEnd(width)}  ${sanitise(withMoments(detail))}\n`;
    })
    .join('');
}

/** Formats the instants in a message of the service. */
const withMoments = (text: string): string =>
  text.replaceAll(/\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{3})?Z/g, (instant) => moment(instant));

function notesOn({ allowed, action, at, rules }: Explanation, subject: FixSubject): Note[] {
  const verdict: Note = { tone: 'done', text: `${action} would work at ${moment(at)}` };
  if (allowed) return [verdict];
  const reasons = rules.flatMap(({ reason }) => reason ?? []);
  // Nothing helps a revoked key.
  const revoked = reasons.filter((reason) => reason === 'licenseRevoked');
  const fixes = (revoked.length > 0 ? revoked : reasons).flatMap((reason) => fixesFor(reason, subject));
  const width = Math.max(0, ...fixes.map(([label]) => label.length));
  const labelled = fixes.map(([label, line]) => `  ${label.padEnd(width)}  ${line}`);
  return [`${action} would be refused at ${moment(at)}`, ...labelled].map((text) => ({ tone: 'hint', text }));
}
