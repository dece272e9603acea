import { argument, command } from '../command.ts';
import { type Shell, scripts } from '../completion/scripts.ts';
import { UsageError } from '../failure/errors.ts';

const shells = Object.keys(scripts) as Shell[];

export const completion = command({
  about:
    `Prints a script with which TAB completes commands, options and values, among them the products, customers and ` +
    `tokens of the service. For ${shells.join(', ')}.`,
  arguments: { shell: argument('<SHELL>', 'the shell', { choices: shells }) },
  fields: [{ name: 'shell' }, { name: 'script' }],
  examples: [
    ['source <(lkm completion bash)', 'in ~/.bashrc; zsh alike, in ~/.zshrc after compinit'],
    ['lkm completion fish -o ~/.config/fish/completions/lkm.fish', 'for fish'],
    ['lkm completion powershell', 'in $PROFILE: … | Out-String | Invoke-Expression'],
  ],

  async run({ shell }) {
    const name = shells.find((one) => one === shell);
    if (name === undefined)
      throw new UsageError(`there is no completion for '${shell}'`, [`Shells: ${shells.join(', ')}`]);
    const script = scripts[name]();
    return { kind: 'file', content: script, data: { shell: name, script }, quiet: [name] };
  },
});
