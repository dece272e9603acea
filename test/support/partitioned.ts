import type { TestProject } from 'vitest/node';
import setupPostgres, { makeTemplate } from './postgres.ts';

/** As few as make a difference: each test empties all of them. */
const PARTITIONS = 2;

/** Gives a project databases in partitions, on the server of all. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const close = await setupPostgres(project);
  const { postgres, postgresTemplate } = project.vitest.getRootProject().getProvidedContext();
  const template = `${postgresTemplate}_parts`;
  await makeTemplate(postgres, template, PARTITIONS);
  project.provide('postgresTemplate', template);
  return close;
}
