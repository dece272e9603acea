/** Imported by name, so that the bundle leaves out unused prompts and the character tables of the editor. */
export { confirm, input, password, search, select } from '@inquirer/prompts';
