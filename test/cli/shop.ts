import type { Prompter } from '../../src/cli/prompts/prompt.ts';
import { lkm, type Ran, type Surroundings, tempFolder } from './fake-io.ts';

/** A database of its own with one product, the default of commands, and command lines that run on it. */
export async function openShop() {
  const cwd = tempFolder();
  const env: Record<string, string> = { LKM_DB: 'lkm.db', NO_COLOR: '1' };
  /** Words that stand for others in a line: `KEY`. */
  const names: Record<string, string> = {};
  const at = (line: string, more: Surroundings = {}): Promise<Ran> => {
    const words = line.split(' ').map((word) => names[word] ?? word);
    return lkm(words, { cwd, ...more, env: { ...env, ...more.env } });
  };
  /** What a command prints that succeeds. */
  const answer = async (line: string, more?: Surroundings): Promise<string> => {
    const { code, stdout, stderr } = await at(line, more);
    if (code !== 0) throw new Error(`${line}: ${stderr}`);
    return stdout.trimEnd();
  };
  const json = async (line: string) => JSON.parse(await answer(`${line} --json`));
  const product = await answer('products create --name Engine -q --create');
  env.LKM_PRODUCT = product;
  return { cwd, names, at, answer, json, product, license: async () => (await json('keys get KEY')).license };
}

/** A person who answers every question so. */
export const saying = (answer: string | boolean): Prompter => ({
  confirm: async () => answer === true,
  type: async () => String(answer),
  secret: async () => String(answer),
  choose: async () => String(answer),
  search: async () => String(answer),
});
