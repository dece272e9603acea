import { command } from '../../command.ts';
import { checkFields } from './result.ts';

export const doctor = command({
  about:
    'Checks what commands here rely on, from the configuration to the service, and says what to do about what is wrong. ' +
    'Changes nothing. Ends with 13 when something fails; what is only worth knowing is a warning. For what a server ' +
    'relies on: lkm serve --check-config.',
  fields: checkFields,
  examples: [
    ['lkm doctor', 'when something does not work'],
    ['lkm doctor --json', 'for a bug report; it holds no secret'],
  ],

  async run(_, context) {
    const { examine } = await import('./examine.ts');
    const { checkResult } = await import('./result.ts');
    return checkResult(await examine(context), context);
  },
});
