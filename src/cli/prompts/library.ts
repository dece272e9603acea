/** The prompts that are used, by name: so the bundle leaves out the others, and the character tables of an editor. */
export { confirm, input, password, search, select } from '@inquirer/prompts';
